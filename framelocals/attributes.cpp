// Reads attributes where they are stored, through the running version's file.
// SPDX-License-Identifier: MIT
#include "cpython/cpython.h"

#include "attributes.h"

#include "cpython/dict_layout.h"

namespace guardtree {

Borrowed<> find_name(PyObject* dict, PyObject* name) noexcept {
    if (!dict || !PyDict_Check(dict)) return nullptr;
    if (dict_keys(dict)->kind != KeyTable::general) {
        return PyDict_GetItemWithError(dict, name);
    }
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* found = nullptr;
    while (PyDict_Next(dict, &position, &key, &found)) {
        if (PyUnicode_CheckExact(key) && PyUnicode_Compare(key, name) == 0)
            return found;
    }
    return nullptr;
}

Owned<> find_attribute(PyObject* object, PyObject* name) noexcept {
    PyObject* found = nullptr;
    CPython::find_attribute(object, name, &found);
    return Owned<>::steal(found);
}

Owned<> type_dict(PyTypeObject* type) noexcept {
    return Owned<>::steal(CPython::type_dict(type));
}

PyObject* sys_dict() noexcept {
    return CPython::sys_dict();
}

PyObject* plain_instance_dict(PyObject* object) noexcept {
    if (Py_TYPE(object)->tp_dictoffset == 0) return nullptr;
    PyObject** place = _PyObject_GetDictPtr(object);
    return place ? *place : nullptr;
}

Borrowed<> find_in_instance(PyObject* object, PyObject* name) noexcept {
    PyTypeObject* type = Py_TYPE(object);
    if (!has_managed_dict(type)) return find_name(plain_instance_dict(object), name);
    PyObject* const* values = instance_values(object, type);
    if (!values) return find_name(managed_dict(object), name);
    const KeyTable* keys = instance_keys(type);
    for (Py_ssize_t i = 0; i < keys->entry_count; ++i) {
        PyObject* key = keys->entries<DictStringEntry>()[i].key;
        if (key == name || (key && PyUnicode_Compare(key, name) == 0)) return values[i];
    }
    return nullptr;
}

uint64_t dict_version(PyObject* dict) noexcept {
    return CPython::dict_version(dict);
}

}  // namespace guardtree
