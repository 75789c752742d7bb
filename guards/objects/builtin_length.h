// len() of builtin containers, without running user code.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../../framelocals/ref.h"

namespace guardtree {

/// Finds the type deque, which is in an extension module. This imports the module, so
/// call it when a program is compiled, never during a check. Cheap after the first
/// call.
void set_up_builtin_length() noexcept;

/// The function that len() calls for values of a type, chosen like in CPython's
/// PyObject_Size. Null if the type has no length.
inline lenfunc length_slot(PyTypeObject* type) noexcept {
    if (type->tp_as_sequence && type->tp_as_sequence->sq_length) {
        return type->tp_as_sequence->sq_length;
    }
    return type->tp_as_mapping ? type->tp_as_mapping->mp_length : nullptr;
}

/// Whether the value is a dict, or has a subclass that currently uses dict's `__len__`.
inline bool has_length_of_dict(PyObject* value) noexcept {
    // OrderedDict is a static type of CPython, which never changes.
    if (PyDict_CheckExact(value) || PyODict_CheckExact(value)) return true;
    return PyDict_Check(value) &&
           length_slot(Py_TYPE(value)) == length_slot(&PyDict_Type);
}

/// builtin_length of values that are not dicts.
Py_ssize_t builtin_length_of_others(PyObject* value) noexcept;

/// The length of a list, tuple, dict, set, frozenset, str, bytes, bytearray, range or
/// deque, or of a subclass that inherits their `__len__`. -1 for every other value.
/// Sets no exception.
inline Py_ssize_t builtin_length(PyObject* value) noexcept {
    if (has_length_of_dict(value)) return PyDict_GET_SIZE(value);
    return builtin_length_of_others(value);
}

/// Whether the value has dict's `__len__` for good: a dict, an OrderedDict or another
/// static subclass. Other subclasses may define `__len__` later.
bool keeps_length_of_dict(PyObject* value) noexcept;

/// An element of a deque, or of a subclass by deque's own rules. A negative index
/// counts from the end. Null if there is no such element or `value` is not a deque.
/// Sets no exception.
Owned<> builtin_deque_item(PyObject* value, Py_ssize_t index) noexcept;

}  // namespace guardtree
