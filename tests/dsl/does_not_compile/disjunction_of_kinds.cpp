// expect: || and ! join comparisons of integers only
// SPDX-License-Identifier: MIT
#include "../../../dsl/cpp/expressions.h"

using namespace guardtree::dsl;

constexpr auto guards = tree(local("x").is_none() || local("y").is_none());
