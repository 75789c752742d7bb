// len() of builtin containers, without running user code.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../framelocals/ref.h"

namespace guardtree {

/// Finds deque, which is in an extension module. Imports, so it is called when a
/// program is compiled, never during a check; cheap after the first time.
void set_up_builtin_length() noexcept;

/// Length of a list, tuple, dict, set, frozenset, str, bytes, bytearray, range or
/// deque, or of a subclass that inherits their `__len__`; -1 for every other value. No
/// exception.
Py_ssize_t builtin_length(PyObject* value) noexcept;

/// A dict, or an OrderedDict or other subclass of CPython's own, whose class keeps
/// dict's `__len__` and stays: another subclass may have its own tomorrow.
bool keeps_length_of_dict(PyObject* value) noexcept;

/// An element of a deque or a subclass by deque's own rules; negative counts from the
/// end. Null when there is none or `value` is not a deque. No exception.
Owned<> builtin_deque_item(PyObject* value, Py_ssize_t index) noexcept;

}  // namespace guardtree
