// Attributes of instances, read where they lie.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../framelocals/cpython/dict_layout.h"

#include "kind.h"

namespace guardtree {

/// The entry of `name` in the object's own dict, or in the values that stand for one;
/// null where there is none. Runs nothing, makes nothing, remembers where it lay.
Borrowed<> find_instance_attribute_anew(PyObject* object, const Key& name,
                                        Remembered remembered) noexcept;

/// The same: two compares when the object has no dict and the name lies where it lay.
[[gnu::always_inline]] inline Borrowed<> find_instance_attribute(
    PyObject* object, const Key& name, Remembered remembered) noexcept {
    PyTypeObject* type = Py_TYPE(object);
    if (has_managed_dict(type)) [[likely]] {
        if (PyObject* const* values = instance_values(object, type)) [[likely]] {
            const KeyTable* keys = instance_keys(type);
            const uint16_t place = remembered.place();
            if (place < keys->entry_count &&
                keys->entries<DictStringEntry>()[place].key == name.value) [[likely]] {
                return values[place];
            }
        }
    }
    return find_instance_attribute_anew(object, name, remembered);
}

}  // namespace guardtree
