// Every file of guards/kinds/, derived by guards/derive.cmake. Do not edit.
// SPDX-License-Identifier: MIT
#pragma once

#include "kinds/equals.h"
#include "kinds/id_match.h"
#include "kinds/is_false.h"
#include "kinds/is_none.h"
#include "kinds/is_not_none.h"
#include "kinds/is_true.h"
#include "kinds/length.h"
#include "kinds/python.h"
#include "kinds/type_match.h"

// clang-format off
#define GUARDTREE_KINDS(X) \
    X(Equals, equals) \
    X(IdMatch, id_match) \
    X(IsFalse, is_false) \
    X(IsNone, is_none) \
    X(IsNotNone, is_not_none) \
    X(IsTrue, is_true) \
    X(Length, length) \
    X(Python, python) \
    X(TypeMatch, type_match)

namespace guardtree {
using AllKinds = TypeList<Equals, IdMatch, IsFalse, IsNone, IsNotNone, IsTrue, Length, Python, TypeMatch>;
}
