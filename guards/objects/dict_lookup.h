// Looking keys up in dicts without running user code.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../../framelocals/cpython/dict_layout.h"
#include "../../framelocals/ref.h"

#include "last_names.h"
#include "remembered.h"

namespace guardtree {

/// Numbers, strs and the like, of exactly CPython's own types: they never change, have
/// no parts, and are hashed and compared without user code.
inline bool is_scalar(PyObject* object) noexcept {
    PyTypeObject* type = Py_TYPE(object);
    return type == &PyUnicode_Type || type == &PyLong_Type || type == &PyBool_Type ||
           type == &PyFloat_Type || type == &PyBytes_Type || type == &PyComplex_Type ||
           object == Py_None || object == Py_Ellipsis;
}

/// What no scalar ever equals though it is no scalar: what is compared by CPython's own
/// code for tuples and frozensets, or by address. Not what may get another class.
inline bool differs_from_scalars(PyObject* object) noexcept {
    PyTypeObject* type = Py_TYPE(object);
    return type == &PyTuple_Type || type == &PyFrozenSet_Type || type == &PyType_Type ||
           type == &PyFunction_Type || type == &PyCFunction_Type;
}

/// A key of a dict with its hash; a str is interned. Borrowed.
struct HashedKey {
    PyObject* value = nullptr;
    Py_hash_t hash = 0;
};

/// The value of `key` in a dict or a subclass of dict, as dict's own look-up finds it;
/// null where there is none. No user code: where a key of a user's type has the same
/// hash, its `__eq__` would have to decide, and the answer is null. About 5 ns.
Borrowed<> find_in_dict(PyObject* dict, const HashedKey& key) noexcept;

/// The same, and remembers where the key lay.
Borrowed<> find_in_dict_anew(PyObject* dict, const HashedKey& key,
                             Remembered remembered) noexcept;

/// The same, beginning where the key lay last: one compare of addresses when it is
/// there (dicts whose keys are all str).
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
    return find_in_dict_anew(dict, key, remembered);
}

/// Where a dict or a subclass keeps the value of a key: in its keys or beside them,
/// until the next change of its keys. Null where find_in_dict gives null.
PyObject* const* place_in_dict(PyObject* dict, const HashedKey& key) noexcept;

enum class Presence : uint8_t { absent, present, unknown };

/// Whether a dict or a subclass of dict has a key; unknown where a key of a user's type
/// would have to be asked, and for every other value. No user code.
Presence presence_in_dict(PyObject* dict, const HashedKey& key) noexcept;

struct DictEntry {
    PyObject* key = nullptr;  // borrowed; both null where there is no entry
    PyObject* value = nullptr;
};

/// An entry of a dict or a subclass of dict by its place in the dict's order; negative
/// counts from the end. Linear.
DictEntry dict_entry_at(PyObject* dict, Py_ssize_t position) noexcept;

/// Where `key`, a str, lies among keys that are all str; -1 where it does not.
Py_ssize_t find_string(const KeyTable& keys, const HashedKey& key) noexcept;

}  // namespace guardtree
