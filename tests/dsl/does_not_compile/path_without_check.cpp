// expect: a path without a check claims nothing
// SPDX-License-Identifier: MIT
#include "../../../dsl/cpp/expressions.h"

using namespace guardtree::dsl;

constexpr auto guards = tree(local("x").attr("y"));
