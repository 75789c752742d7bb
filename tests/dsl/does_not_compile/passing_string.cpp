// expect: a std::string may be gone before build
// SPDX-License-Identifier: MIT
#include "../../../dsl/cpp/expressions.h"

using namespace guardtree::dsl;

auto guards(int number) {
    return tree(local("x" + std::to_string(number)).is_none());
}
