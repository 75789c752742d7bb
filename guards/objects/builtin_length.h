// len() of builtin containers, without running user code.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../../framelocals/ref.h"

namespace guardtree {

/// Finds deque, which is in an extension module. Imports, so it is called when a
/// program is compiled, never during a check; cheap after the first time.
void set_up_builtin_length() noexcept;

/// What len() calls for values of a type, as CPython's PyObject_Size chooses; null for
/// those without a length.
inline lenfunc length_slot(PyTypeObject* type) noexcept {
    if (type->tp_as_sequence && type->tp_as_sequence->sq_length) {
        return type->tp_as_sequence->sq_length;
    }
    return type->tp_as_mapping ? type->tp_as_mapping->mp_length : nullptr;
}

/// A dict, or a value of a subclass that has dict's `__len__` now.
inline bool has_length_of_dict(PyObject* value) noexcept {
    // An OrderedDict is of a type of CPython's own, which stays as it is.
    if (PyDict_CheckExact(value) || PyODict_CheckExact(value)) return true;
    return PyDict_Check(value) &&
           length_slot(Py_TYPE(value)) == length_slot(&PyDict_Type);
}

/// builtin_length of what is no dict.
Py_ssize_t builtin_length_of_others(PyObject* value) noexcept;

/// Length of a list, tuple, dict, set, frozenset, str, bytes, bytearray, range or
/// deque, or of a subclass that inherits their `__len__`; -1 for every other value. No
/// exception.
inline Py_ssize_t builtin_length(PyObject* value) noexcept {
    if (has_length_of_dict(value)) return PyDict_GET_SIZE(value);
    return builtin_length_of_others(value);
}

/// A dict, or an OrderedDict or other subclass of CPython's own, whose class keeps
/// dict's `__len__` and stays: another subclass may have its own tomorrow.
bool keeps_length_of_dict(PyObject* value) noexcept;

/// An element of a deque or a subclass by deque's own rules; negative counts from the
/// end. Null when there is none or `value` is not a deque. No exception.
Owned<> builtin_deque_item(PyObject* value, Py_ssize_t index) noexcept;

}  // namespace guardtree
