// Looks up keys in dicts without running user code.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../../framelocals/cpython/dict_layout.h"
#include "../../framelocals/ref.h"

#include "last_names.h"
#include "remembered.h"

namespace guardtree {

/// Whether an object is a number, a str or the like, with exactly one of CPython's own
/// types. These objects never change, have no parts, and are hashed and compared
/// without user code.
inline bool is_scalar(PyObject* object) noexcept {
    PyTypeObject* type = Py_TYPE(object);
    return type == &PyUnicode_Type || type == &PyLong_Type || type == &PyBool_Type ||
           type == &PyFloat_Type || type == &PyBytes_Type || type == &PyComplex_Type ||
           object == Py_None || object == Py_Ellipsis;
}

/// Whether nothing can change an object: a scalar, or a tuple of such objects. False
/// for one that is too large to be held, or has more than 64 parts.
bool is_fixed_constant(PyObject* object) noexcept;

/// Whether an object that is not a scalar differs from every scalar. CPython's own code
/// compares tuples and frozensets, and the other types compare by address. Excludes
/// objects whose class can be changed.
inline bool differs_from_scalars(PyObject* object) noexcept {
    PyTypeObject* type = Py_TYPE(object);
    return type == &PyTuple_Type || type == &PyFrozenSet_Type || type == &PyType_Type ||
           type == &PyFunction_Type || type == &PyCFunction_Type;
}

/// The hash of a str, which keeps it.
inline Py_hash_t hash_of_str(PyObject* text) noexcept {
    const Py_hash_t known = reinterpret_cast<PyASCIIObject*>(text)->hash;
    return known != -1 ? known : PyObject_Hash(text);
}

/// A key of a dict with its hash. A str is interned. Borrowed.
struct HashedKey {
    PyObject* value = nullptr;
    Py_hash_t hash = 0;
};

/// The value of `key` in a dict or a subclass of dict, as dict's own look-up finds it.
/// Null if there is none. Runs no user code: if a key of a user-defined type has the
/// same hash, its `__eq__` would have to decide, and the result is null. About 5 ns.
Borrowed<> find_in_dict(PyObject* dict, const HashedKey& key) noexcept;

/// The same, and stores where it found the key.
Borrowed<> search_dict(PyObject* dict, const HashedKey& key,
                       Remembered remembered) noexcept;

/// The same, starting where the key was found last. One compare of addresses if it is
/// still there (dicts whose keys are all str).
[[gnu::always_inline]] inline Borrowed<> find_in_dict(PyObject* dict,
                                                      const HashedKey& key,
                                                      Remembered remembered) noexcept {
    PyObject* found = nullptr;
    if (LastNames* const last = remembered.last()) {
        if (!last->is_dict(dict)) {
            if (!dict || !PyDict_Check(dict)) return nullptr;
            last->read_dict(dict);
        }
        found = last->value_at(remembered.place(), key.value);
    } else {
        if (!dict || !PyDict_Check(dict)) return nullptr;
        found = string_value_at(dict, key.value, remembered.place());
    }
    if (found) [[likely]]
        return found;
    return search_dict(dict, key, remembered);
}

/// The address of the value of a key in a dict or a subclass, in its entries or its
/// split values. Valid until the next change of the keys. Null if find_in_dict returns
/// null.
PyObject* const* place_in_dict(PyObject* dict, const HashedKey& key) noexcept;

enum class Presence : uint8_t { absent, present, unknown };

/// Whether a dict or a subclass of dict has a key. `unknown` if a key of a user-defined
/// type would have to decide, and for values that are not dicts. Runs no user code.
Presence presence_in_dict(PyObject* dict, const HashedKey& key) noexcept;

struct DictEntry {
    PyObject* key = nullptr;  // borrowed; both are null if there is no entry
    PyObject* value = nullptr;
};

/// An entry of a dict or a subclass of dict by its position in the dict's order. A
/// negative position counts from the end. Linear where keys were deleted or the dict
/// shares its keys with others of its class, else constant.
DictEntry dict_entry_at(PyObject* dict, Py_ssize_t position) noexcept;

struct EntryPlace {
    PyObject* const* key = nullptr;  // both are null if that takes a search
    PyObject* const* value = nullptr;
};

/// Where the same entry is stored, if entries are stored in the dict's order without
/// gaps. Constant.
EntryPlace place_of_entry(PyObject* dict, Py_ssize_t position) noexcept;

/// The index of `key`, a str, in a table whose keys are all str. -1 if it is not there.
Py_ssize_t find_string(const KeyTable& keys, const HashedKey& key) noexcept;

}  // namespace guardtree
