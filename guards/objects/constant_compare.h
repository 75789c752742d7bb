// same_constant with the frequent cases inline: ints of one digit, strs and floats.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <bit>
#include <cstdint>

#include "../../framelocals/cpython/compact_int.h"
#include "../../framelocals/same_text.h"

#include "constant.h"

namespace guardtree {

/// Whether two floats are equal as constants.
inline bool same_bits(double a, double b) noexcept {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

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
    } else if (type == &PyFloat_Type) {
        return same_bits(PyFloat_AS_DOUBLE(value), PyFloat_AS_DOUBLE(constant));
    }
    return same_constant(value, constant);
}

}  // namespace guardtree
