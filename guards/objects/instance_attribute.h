// Reads attributes of instances directly from their dict or inline values.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "dict_lookup.h"
#include "last_names.h"
#include "remembered.h"

namespace guardtree {

/// The value of `name` in the object's own dict, or in its inline values. Null if there
/// is none. Runs no code, creates no object, and stores where it found the value.
Borrowed<> search_instance_attribute(PyObject* object, const HashedKey& name,
                                     Remembered remembered) noexcept;

/// The same. Two compares if the name is where it was found last.
[[gnu::always_inline]] inline Borrowed<> find_instance_attribute(
    PyObject* object, const HashedKey& name, Remembered remembered) noexcept {
    PyObject* found = nullptr;
    if (LastNames* const last = remembered.last()) {
        if (!last->is_instance(object) && !last->read_instance(object)) [[unlikely]]
            return search_instance_attribute(object, name, remembered);
        found = last->value_at(remembered.place(), name.value);
    } else {
        PyTypeObject* type = Py_TYPE(object);
        if (has_managed_dict(type)) [[likely]] {
            if (PyObject* const* values = instance_values(object, type)) [[likely]] {
                const KeyTable* keys = instance_keys(type);
                const uint16_t place = remembered.place();
                if (place < keys->entry_count &&
                    keys->entries<DictStringEntry>()[place].key == name.value)
                    [[likely]]
                    found = values[place];
            }
        }
    }
    if (found) [[likely]]
        return found;
    return search_instance_attribute(object, name, remembered);
}

/// Whether the object's own dict, or its inline values, contain the name, like
/// presence_in_dict. `absent` if there is no dict, and for classes.
Presence presence_in_instance(PyObject* object, const HashedKey& name) noexcept;

}  // namespace guardtree
