// What of a type stays as it is, and what tells of a change.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// Whether instances keep their class, and what it says of them: the type cannot change,
/// and they are no modules, which may be given another class (object_set_class,
/// Objects/typeobject.c).
inline bool instances_keep_class(PyTypeObject* type) noexcept {
    return PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE) &&
           !PyType_IsSubtype(type, &PyModule_Type);
}

/// Whether each class of the MRO is the base of another one. A metaclass may put others
/// there, and their changes do not reach the type's version tag. O(n^2).
bool has_usual_mro(PyTypeObject* type) noexcept;

}  // namespace guardtree
