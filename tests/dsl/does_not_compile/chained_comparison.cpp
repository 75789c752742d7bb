// expect: write a chain a < b < c as a < b && b < c
// SPDX-License-Identifier: MIT
#include "../../../dsl/cpp/expressions.h"

using namespace guardtree::dsl;

constexpr auto guards = tree((0 < local("x")) <= 64);
