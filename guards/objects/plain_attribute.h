// Attributes that `getattr` finds without asking code: where they lie.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../../framelocals/ref.h"

namespace guardtree {

/// Where `getattr` looks for a name in objects of a type.
struct PlainPlace {
    enum class Sort : uint8_t {
        code,      ///< it may ask code, or a class
        instance,  ///< in the object's own dict
        slot,      ///< a slot of the object, at `offset`
    };

    Sort sort = Sort::code;
    bool is_lasting = false;   ///< until the type's version tag changes
    bool is_optional = false;  ///< an empty slot raises; else it is None
    Py_ssize_t offset = 0;

    /// What the slot of an object holds; null where it is empty.
    Borrowed<> slot_of(PyObject* object) const noexcept {
        const char* place = reinterpret_cast<const char*>(object) + offset;
        PyObject* content = *reinterpret_cast<PyObject* const*>(place);
        return content || is_optional ? content : Py_None;
    }
};

/// `name` is an interned str. Code: the value is a class, its `__getattribute__` is not
/// object's own, or the name is that of a descriptor which goes before the own dict.
PlainPlace plain_place(PyObject* value, PyObject* name) noexcept;

}  // namespace guardtree
