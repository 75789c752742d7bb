// expect: or, in a tuple, only kinds
// SPDX-License-Identifier: MIT
#include "../../../dsl/cpp/expressions.h"

using namespace guardtree::dsl;

constexpr auto guards = tree(local("x").equals(tuple_of(1, kinds::is_none())));
