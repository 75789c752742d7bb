// Reads attributes of instances whose place is not known yet, or that have a dict.
// SPDX-License-Identifier: MIT
#include "instance_attribute.h"

#include "../../framelocals/attributes.h"

namespace guardtree {

Borrowed<> search_instance_attribute(PyObject* object, const HashedKey& name,
                                     Remembered remembered) noexcept {
    PyTypeObject* type = Py_TYPE(object);
    if (PyType_Check(object)) return nullptr;  // what a class has is its namespace
    if (!has_managed_dict(type)) {
        return find_in_dict(plain_instance_dict(object), name, remembered);
    }
    if (PyObject* const* values = instance_values(object, type)) {
        const Py_ssize_t place = find_string(*instance_keys(type), name);
        if (place < 0) return nullptr;
        remembered.remember(static_cast<size_t>(place));
        return values[place];
    }
    return find_in_dict(managed_dict(object), name, remembered);
}

Presence presence_in_instance(PyObject* object, const HashedKey& name) noexcept {
    PyTypeObject* type = Py_TYPE(object);
    if (PyType_Check(object)) return Presence::absent;
    PyObject* dict = nullptr;
    if (!has_managed_dict(type)) {
        dict = plain_instance_dict(object);
    } else if (PyObject* const* values = instance_values(object, type)) {
        const Py_ssize_t place = find_string(*instance_keys(type), name);
        return place >= 0 && values[place] ? Presence::present : Presence::absent;
    } else {
        dict = managed_dict(object);
    }
    return dict ? presence_in_dict(dict, name) : Presence::absent;
}

}  // namespace guardtree
