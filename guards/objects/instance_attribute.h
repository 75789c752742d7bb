// Attributes of instances, read where they lie.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "dict_lookup.h"
#include "last_names.h"
#include "remembered.h"

namespace guardtree {

/// The entry of `name` in the object's own dict, or in the values that stand for one;
/// null where there is none. Runs nothing, makes nothing, remembers where it lay.
Borrowed<> find_instance_attribute_anew(PyObject* object, const HashedKey& name,
                                        Remembered remembered) noexcept;

/// The same: two compares when the name lies where it lay.
[[gnu::always_inline]] inline Borrowed<> find_instance_attribute(
    PyObject* object, const HashedKey& name, Remembered remembered) noexcept {
    PyObject* found = nullptr;
    if (LastNames* const last = remembered.last()) {
        if (!last->is_instance(object) && !last->read_instance(object)) [[unlikely]]
            return find_instance_attribute_anew(object, name, remembered);
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
    return find_instance_attribute_anew(object, name, remembered);
}

/// Whether the object's own dict, or the values that stand for one, have the name; as
/// presence_in_dict. Absent where there is no dict, and of classes.
Presence presence_in_instance(PyObject* object, const HashedKey& name) noexcept;

}  // namespace guardtree
