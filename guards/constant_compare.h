// same_constant with what is frequent inline: ints of one digit and strs.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstring>

#include "../framelocals/cpython/compact_int.h"

#include "constant.h"

namespace guardtree {

/// Two exact strs with the same characters. CPython keeps each text in the narrowest
/// form that holds it, so forms that differ mean texts that differ.
[[gnu::always_inline]] inline bool same_text(PyObject* a, PyObject* b) noexcept {
    const Py_ssize_t length = PyUnicode_GET_LENGTH(a);
    if (length != PyUnicode_GET_LENGTH(b)) return false;
    const auto kind = PyUnicode_KIND(a);
    if (kind != PyUnicode_KIND(b)) return false;
    const auto* left = static_cast<const char*>(PyUnicode_DATA(a));
    const auto* right = static_cast<const char*>(PyUnicode_DATA(b));
    const size_t bytes = static_cast<size_t>(length) * static_cast<size_t>(kind);
    return std::memcmp(left, right, bytes) == 0;
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
    }
    return same_constant(value, constant);
}

}  // namespace guardtree
