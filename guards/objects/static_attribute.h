// Looks up attributes without user code: no descriptor, no `__getattr__`, no
// `__getattribute__` of a metaclass, and no `__eq__` of a key runs.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../../framelocals/ref.h"

namespace guardtree {

/// The first entry of an interned str in the dicts of the type's MRO, without binding
/// descriptors.
Borrowed<> find_in_mro(PyTypeObject* type, PyObject* name) noexcept;

/// Whether all names in the dicts of the type's MRO are exact strs. CPython asks the
/// `__eq__` of any other key.
bool has_only_str_names(PyTypeObject* type) noexcept;

/// The value that a member descriptor (`__slots__`, or an object field of a C type) of
/// the value's type stores for it. `is_slot` is false for other descriptors, and for
/// one that does not apply to the value.
struct SlotContent {
    bool is_slot = false;
    PyObject* content = nullptr;  ///< borrowed; null if the slot is empty
};

SlotContent slot_content(PyObject* descriptor, PyObject* value) noexcept;

/// Whether the value has the attribute in a dict of its type's MRO (a slot must not be
/// empty) or in its own dict. For a type, the search covers its own MRO and its
/// metatype's. Does not call `__getattr__` and `__getattribute__`.
bool has_static_attribute(PyObject* value, PyObject* name) noexcept;

/// Whether instances keep their class, and what it says of them: the type cannot
/// change, and they are no modules, which may be given another class
/// (object_set_class, Objects/typeobject.c).
inline bool instances_keep_class(PyTypeObject* type) noexcept {
    return PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE) &&
           !PyType_IsSubtype(type, &PyModule_Type);
}

/// Whether each class of the MRO is the base of another one. A metaclass may put others
/// there, and their changes do not reach the type's version tag. O(n^2).
bool has_usual_mro(PyTypeObject* type) noexcept;

/// Gives a type without a version tag one, if that runs no user code. 0 otherwise.
unsigned make_version_tag(PyTypeObject* type) noexcept;

/// The version tag of a type. A change of the type or a base replaces it, and no other
/// type ever gets the same tag. 0 if it has none and can get none. Not replaced: when a
/// class of the MRO changes that is no base (has_usual_mro), or the type's `__name__`.
/// Up to CPython 3.12, a store replaces the tag after the old value was dropped, whose
/// finalizer may ask (type_setattro, Objects/typeobject.c).
inline unsigned version_tag(PyTypeObject* type) noexcept {
    const unsigned tag = type->tp_version_tag;
    return tag ? tag : make_version_tag(type);
}

}  // namespace guardtree
