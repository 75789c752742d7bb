// expect: a claim is used as a number
// SPDX-License-Identifier: MIT
#include "../../../dsl/cpp/expressions.h"

using namespace guardtree::dsl;

constexpr auto guards = tree((local("x").is_none()) + 1 == 2);
