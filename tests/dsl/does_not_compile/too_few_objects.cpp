// expect: build is given fewer objects than there are placeholders
// SPDX-License-Identifier: MIT
#include "../../../dsl/cpp/expressions.h"

using namespace guardtree::dsl;

bool add(guardtree::Tree& to, guardtree::Diagnostic& problem, PyObject* one) {
    return build(local("x").id_match(placeholder<0>).id_match(placeholder<1>), to,
                 problem, one);
}
