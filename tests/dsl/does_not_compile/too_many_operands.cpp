// expect: attr is given too few operands, or too many
// SPDX-License-Identifier: MIT
#include "../../../dsl/cpp/expressions.h"

using namespace guardtree::dsl;

constexpr auto guards = tree(local("x").attr("a", "b").is_none());
