// expect: write floor_div(a, b) for Python's //
// SPDX-License-Identifier: MIT
#include "../../../dsl/cpp/expressions.h"

using namespace guardtree::dsl;

constexpr auto guards = tree(local("x") / 2 == 1);
