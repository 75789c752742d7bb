// same_constant with the frequent cases inline: ints of one digit and strs.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../../framelocals/cpython/compact_int.h"
#include "../../framelocals/same_text.h"

#include "constant.h"

namespace guardtree {

/// same_constant(value, constant).
[[gnu::always_inline]] inline bool equals_constant(PyObject* value,
                                                   PyObject* constant) noexcept {
    if (value == constant) return true;
    PyTypeObject* type = Py_TYPE(constant);
    if (Py_TYPE(value) != type) return false;
    if (type == &PyLong_Type) {
        int64_t left = 0;
        int64_t right = 0;
        if (read_compact_int(value, left) && read_compact_int(constant, right)) {
            return left == right;
        }
    } else if (type == &PyUnicode_Type) {
        return same_text(value, constant);
    }
    return same_constant(value, constant);
}

}  // namespace guardtree
