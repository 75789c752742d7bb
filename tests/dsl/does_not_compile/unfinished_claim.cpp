// expect: a claim ends in a step
// SPDX-License-Identifier: MIT
#include "../../../dsl/cpp/expressions.h"

using namespace guardtree::dsl;

constexpr auto guards = tree(local("x").length(2).item(0));
