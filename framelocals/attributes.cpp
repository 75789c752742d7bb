// Attributes where they are kept, through the running version's file.
// SPDX-License-Identifier: MIT
#include "cpython/cpython.h"

#include "attributes.h"

namespace guardtree {

Borrowed<> find_name(PyObject* dict, PyObject* name) noexcept {
    if (!dict || !PyDict_Check(dict)) return nullptr;
    if (CPython::has_str_keys_only(dict)) return PyDict_GetItemWithError(dict, name);
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* found = nullptr;
    while (PyDict_Next(dict, &position, &key, &found)) {
        if (PyUnicode_CheckExact(key) && PyUnicode_Compare(key, name) == 0)
            return found;
    }
    return nullptr;
}

Owned<> type_dict(PyTypeObject* type) noexcept {
    return Owned<>::steal(CPython::type_dict(type));
}

Borrowed<> find_in_instance(PyObject* object, PyObject* name) noexcept {
    // The dict first: it shares the inline values where both are there.
    if (PyObject* dict = CPython::instance_dict(object)) return find_name(dict, name);
    return CPython::inline_value(object, name);
}

uint64_t dict_version(PyObject* dict) noexcept {
    return CPython::dict_version(dict);
}

}  // namespace guardtree
