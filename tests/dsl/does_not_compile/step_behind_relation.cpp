// expect: no member named 'attr'
// SPDX-License-Identifier: MIT
#include "../../../dsl/cpp/expressions.h"

using namespace guardtree::dsl;

constexpr auto guards = tree(same_object(local("a"), local("b")).attr("x"));
