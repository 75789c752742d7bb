// len() of builtin containers, without running user code.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// Length of a list, tuple, dict, set, frozenset, str, bytes, bytearray, range or
/// deque, or of a subclass that inherits their `__len__`; -1 for every other value. No
/// exception.
Py_ssize_t builtin_length(PyObject* value) noexcept;

}  // namespace guardtree
