// Reads descriptors of the fields of named tuples.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstring>

namespace guardtree {

/// `_tuplegetterobject` of Modules/_collectionsmodule.c. The same in 3.11 to 3.15.
struct TupleFieldDescriptor {
    PyObject_HEAD
    Py_ssize_t index;
    PyObject* doc;
};

/// The index of the item that a field of a named tuple reads. -1 if the descriptor is
/// not one that `collections.namedtuple` makes. Only C code can make a type that cannot
/// change, so a class of the same name is not taken for it.
inline Py_ssize_t index_of_tuple_field(PyObject* descriptor) noexcept {
    PyTypeObject* const type = Py_TYPE(descriptor);
    if (type->tp_basicsize != sizeof(TupleFieldDescriptor) ||
        !PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE) ||
        (std::strcmp(type->tp_name, "collections._tuplegetter") != 0 &&
         std::strcmp(type->tp_name, "_collections._tuplegetter") != 0))  // 3.11
        return -1;
    return reinterpret_cast<TupleFieldDescriptor*>(descriptor)->index;
}

}  // namespace guardtree
