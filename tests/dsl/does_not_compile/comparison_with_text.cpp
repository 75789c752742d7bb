// expect: compare with other constants by .equals(...)
// SPDX-License-Identifier: MIT
#include "../../../dsl/cpp/expressions.h"

using namespace guardtree::dsl;

constexpr auto guards = tree(local("x") == "a");
