// expect: build is given an object that no placeholder stands for
// SPDX-License-Identifier: MIT
#include "../../../dsl/cpp/expressions.h"

using namespace guardtree::dsl;

bool add(guardtree::Tree& to, guardtree::Diagnostic& problem, PyObject* one) {
    return build(local("x").is_none(), to, problem, one);
}
