// Attributes looked up without user code: no descriptor, no `__getattr__`, no
// metaclass's `__getattribute__`, no key's `__eq__` runs.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../../framelocals/ref.h"

namespace guardtree {

/// The first entry of an interned str in the dicts of the type's MRO, as it is there:
/// descriptors are not bound.
Borrowed<> find_in_mro(PyTypeObject* type, PyObject* name) noexcept;

/// What a member descriptor (`__slots__`, or a C type's object field) of the value's
/// type holds for it. `is_slot` is false for any other descriptor, and for one that
/// does not fit the value.
struct SlotContent {
    bool is_slot = false;
    PyObject* content = nullptr;  ///< borrowed; null: empty
};

SlotContent slot_content(PyObject* descriptor, PyObject* value) noexcept;

/// Does the value have the attribute in a dict of its type's MRO (a filled slot, if it
/// is a slot) or in its own dict? A type has its own MRO's and its metatype's. What
/// `__getattr__` and `__getattribute__` would make of the name is not asked.
bool has_static_attribute(PyObject* value, PyObject* name) noexcept;

/// A number that any change of the type or a base replaces and no other type ever has.
/// A type that has none is given one, where that runs no user code; 0 without one.
/// `name`: any interned str.
unsigned version_tag(PyTypeObject* type, PyObject* name) noexcept;

}  // namespace guardtree
