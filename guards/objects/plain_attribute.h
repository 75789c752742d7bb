// Finds the place of attributes that `getattr` returns without running code.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../../framelocals/ref.h"

#include "instance_attribute.h"
#include "remembered.h"

namespace guardtree {

/// The place where `getattr` finds a name in objects of a type.
struct PlainPlace {
    enum class Kind : uint8_t {
        code,      ///< getattr may run code or read the class
        instance,  ///< in the object's own dict
        slot,      ///< a slot of the object, at `offset`
    };

    Kind kind = Kind::code;
    bool is_lasting = false;   ///< valid until the type's version tag changes
    bool is_optional = false;  ///< an empty slot raises; otherwise it reads as None
    Py_ssize_t offset = 0;

    /// The content of the slot in an object. Null if it is empty and optional.
    Borrowed<> slot_of(PyObject* object) const noexcept {
        const char* place = reinterpret_cast<const char*>(object) + offset;
        PyObject* content = *reinterpret_cast<PyObject* const*>(place);
        return content || is_optional ? content : Py_None;
    }
};

/// Finds the place of `name`, an interned str. The result is `code` if the value is a
/// class, if its `__getattribute__` is not object's own, or if a data descriptor has
/// that name.
PlainPlace plain_place(PyObject* value, PyObject* name) noexcept;

/// What `getattr` finds in the value's own `__dict__` or in a slot, without running
/// code. Null if it would run code or read the class, or if there is nothing.
[[gnu::always_inline]] inline Borrowed<> plain_attribute(
    PyObject* value, const HashedKey& name, Remembered remembered) noexcept {
    const PlainPlace place = plain_place(value, name.value);
    if (place.kind == PlainPlace::Kind::instance)
        return find_instance_attribute(value, name, remembered);
    return place.kind == PlainPlace::Kind::slot ? place.slot_of(value) : nullptr;
}

/// The same for an interned str.
[[gnu::always_inline]] inline Borrowed<> plain_attribute(
    PyObject* value, PyObject* name, Remembered remembered) noexcept {
    return plain_attribute(value, HashedKey{name, hash_of_str(name)}, remembered);
}

/// Whether `value.name` can only read a field, bind a C method or raise AttributeError,
/// for values of this exact type.
bool has_plain_attribute(PyTypeObject* type, PyObject* name) noexcept;

}  // namespace guardtree
