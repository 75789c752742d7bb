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
        code,        ///< getattr may run code, or make an object
        instance,    ///< in the object's own dict, or else in its class
        slot,        ///< a slot of the object
        item,        ///< a field of a named tuple: an item of the object
        class_of,    ///< `__class__` of any object
        in_class,    ///< the object is a class: in a dict of its MRO
        class_name,  ///< the object is a class: its `__name__`
    };

    Kind kind = Kind::code;
    bool is_lasting = false;   ///< valid until the type's version tag changes
    bool is_optional = false;  ///< an empty slot raises; otherwise it reads as None
    bool is_only = false;      ///< getattr raises AttributeError if the place is empty
    bool has_default = false;  ///< the MRO has what getattr returns otherwise
    Py_ssize_t at = 0;  ///< the offset of the slot in bytes, or the index of the item

    /// Where the slot is in an object.
    PyObject* const* address_in(PyObject* object) const noexcept {
        const char* place = reinterpret_cast<const char*>(object) + at;
        return reinterpret_cast<PyObject* const*>(place);
    }

    /// The content of the slot in an object. Null if it is empty and optional.
    Borrowed<> slot_of(PyObject* object) const noexcept {
        PyObject* content = *address_in(object);
        return content || is_optional ? content : Py_None;
    }

    /// The item of a tuple, or of a subclass. Null if the tuple is too short.
    Borrowed<> item_of(PyObject* tuple) const noexcept {
        return at < PyTuple_GET_SIZE(tuple) ? PyTuple_GET_ITEM(tuple, at) : nullptr;
    }
};

/// Finds the place of `name`, an interned str. The result is `code` if the
/// `__getattribute__` of the value's type does not call what object's does (type's, if
/// the value is a class), if another data descriptor has that name, if not all names of
/// the type are exact strs, or if no `__dict__` shows the dict of the value.
PlainPlace plain_place(PyObject* value, PyObject* name) noexcept;

/// The attribute that `getattr` finds in the class, if the object's dict does not have
/// it. Null if that is a descriptor.
Borrowed<> default_of_class(PyObject* value, const HashedKey& name) noexcept;

/// The attribute in a place that belongs to a class. Null if there is none, if it is a
/// descriptor that getattr binds to a class, or if the name lies in C.
Borrowed<> read_class_place(const PlainPlace& place, PyObject* value,
                            PyObject* name) noexcept;

/// What `getattr` returns, if it runs no code and makes no object. Null if it would,
/// or if there is nothing.
[[gnu::always_inline]] inline Borrowed<> plain_attribute(
    PyObject* value, const HashedKey& name, Remembered remembered) noexcept {
    const PlainPlace place = plain_place(value, name.value);
    if (place.kind == PlainPlace::Kind::instance) [[likely]] {
        const Borrowed<> own = find_instance_attribute(value, name, remembered);
        return own || !place.has_default ? own : default_of_class(value, name);
    }
    if (place.kind == PlainPlace::Kind::slot) return place.slot_of(value);
    if (place.kind == PlainPlace::Kind::item) return place.item_of(value);
    if (place.kind == PlainPlace::Kind::code) return nullptr;
    return read_class_place(place, value, name.value);
}

/// The same for an interned str.
[[gnu::always_inline]] inline Borrowed<> plain_attribute(
    PyObject* value, PyObject* name, Remembered remembered) noexcept {
    return plain_attribute(value, HashedKey{name, hash_of_str(name)}, remembered);
}

/// Whether `getattr` raises AttributeError for an interned str, without running code.
/// False if it might run code.
bool lacks_plain_attribute(PyObject* value, const HashedKey& name) noexcept;

/// Whether `value.name` can only read a field, bind a C method or raise AttributeError,
/// for values of this exact type.
bool has_plain_attribute(PyTypeObject* type, PyObject* name) noexcept;

}  // namespace guardtree
