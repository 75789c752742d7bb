// expect: relations are of paths without checks
// SPDX-License-Identifier: MIT
#include "../../../dsl/cpp/expressions.h"

using namespace guardtree::dsl;

constexpr auto guards = tree(same_object(local("a").is_none(), local("b")));
