// expect: type_match does not take one of its operands as it is given
// expect: TypeMatch::expected
// expect: this operand takes an object: a PyObject*
// SPDX-License-Identifier: MIT
#include "../../../dsl/cpp/expressions.h"

using namespace guardtree::dsl;

constexpr auto guards = tree(local("x").type_match(3));
