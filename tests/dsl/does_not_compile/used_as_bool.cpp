// expect: to 'bool'
// SPDX-License-Identifier: MIT
#include "../../../dsl/cpp/expressions.h"

using namespace guardtree::dsl;

bool is_three() {
    if (local("x") == 3) return true;
    return false;
}
