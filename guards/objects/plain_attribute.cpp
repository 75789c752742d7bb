// Finds attributes that `getattr` returns without running code.
// SPDX-License-Identifier: MIT
#include "plain_attribute.h"

#include <structmember.h>

#include "../../framelocals/cpython/member.h"
#include "../../framelocals/cpython/tuple_field.h"

#include "static_attribute.h"

namespace guardtree {
namespace {

using PlaceKind = PlainPlace::Kind;

/// A cache of the places of names in types with a usual MRO, by version tag. CPython
/// replaces a type's tag if the type or a base changes, and never reuses a tag. Entries
/// hold their names, but no references to the type.
class PlainPlaces {
public:
    const PlainPlace* find(unsigned tag, PyObject* name) const noexcept {
        for (const Entry& entry : entries_[number_of(tag, name)]) {
            if (entry.tag == tag && entry.name == name) return &entry.place;
        }
        return nullptr;
    }

    /// `tag` is not 0. Replaces the older one of two that share a number.
    void add(unsigned tag, PyObject* name, const PlainPlace& place) noexcept {
        Entry(&pair)[2] = entries_[number_of(tag, name)];
        PyObject* const former = pair[1].name;
        pair[1] = pair[0];
        pair[0] = {tag, Owned<>::share(name).release(), place};
        Owned<>::steal(former).reset();  // a str: no user code
    }

private:
    struct Entry {
        unsigned tag = 0;
        PyObject* name = nullptr;
        PlainPlace place;
    };

    static size_t number_of(unsigned tag, PyObject* name) noexcept {
        return (tag * 31 + (reinterpret_cast<uintptr_t>(name) >> 4)) % count;
    }

    static constexpr size_t count = 256;
    Entry entries_[count][2];
};

constinit PlainPlaces known_places;  // never freed, because it must outlive all guards

/// An interned str that is never freed.
PyObject* interned(const char* text) noexcept {
    PyObject* const made = PyUnicode_InternFromString(text);
    if (!made) PyErr_Clear();
    return made;
}

/// How `getattr` starts: by the C function of object.__getattribute__ (of type's, for
/// classes), then by a `__getattr__` or not.
enum class Start : uint8_t { other, own_then_getattr, own };

/// Whether a `__getattribute__` calls that function. tuple, dict and other builtin
/// types have a wrapper of object's of their own.
bool calls(PyObject* getattribute, getattrofunc function, PyTypeObject* type) noexcept {
    if (Py_TYPE(getattribute) != &PyWrapperDescr_Type) return false;
    const auto* wrapper = reinterpret_cast<const PyWrapperDescrObject*>(getattribute);
    // A class may contain a wrapper of another class, which then raises TypeError.
    return wrapper->d_wrapped == reinterpret_cast<void*>(function) &&
           PyType_IsSubtype(type, wrapper->d_common.d_type);
}

Start start_of(PyTypeObject* type, getattrofunc function) noexcept {
    static PyObject* const getattribute = interned("__getattribute__");
    static PyObject* const getattr = interned("__getattr__");
    if (!getattribute || !getattr) return Start::other;
    const Borrowed<> found = find_in_mro(type, getattribute);
    if (!found || !calls(found.get(), function, type)) return Start::other;
    if (find_in_mro(type, getattr)) return Start::own_then_getattr;
    return type->tp_getattro == function ? Start::own : Start::other;
}

/// The descriptor that a builtin type has for a name. Null without memory.
PyObject* descriptor_of(PyTypeObject* type, const char* name) noexcept {
    PyObject* const key = interned(name);
    return key ? find_in_mro(type, key).get() : nullptr;
}

/// Whether what the MRO says of `__class__` is object's descriptor, which reads the
/// type.
bool gives_class(PyObject* found) noexcept {
    static PyObject* const descriptor = descriptor_of(&PyBaseObject_Type, "__class__");
    return found == descriptor;
}

/// Whether it is type's descriptor for the name of a class.
bool gives_class_name(PyObject* found) noexcept {
    static PyObject* const descriptor = descriptor_of(&PyType_Type, "__name__");
    return found == descriptor;
}

/// Whether instances have a dict that no `__dict__` shows.
bool hides_dict(PyTypeObject* type) noexcept {
    static PyObject* const name = interned("__dict__");
    const bool has_dict = type->tp_dictoffset != 0 || has_managed_dict(type);
    return has_dict && (!name || !find_in_mro(type, name));
}

/// The place in classes of this metaclass.
PlainPlace find_place_in_class(PyTypeObject* metaclass, PyObject* name) noexcept {
    if (!has_only_str_names(metaclass)) return {};
    if (start_of(metaclass, PyType_Type.tp_getattro) == Start::other) return {};
    const Borrowed<> found = find_in_mro(metaclass, name);
    if (!found) return {.kind = PlaceKind::in_class, .is_lasting = true};
    if (gives_class(found.get()))
        return {.kind = PlaceKind::class_of, .is_lasting = true};
    if (gives_class_name(found.get()))
        return {.kind = PlaceKind::class_name, .is_lasting = true};
    PyTypeObject* const kind = Py_TYPE(found.get());
    if (kind->tp_descr_get && kind->tp_descr_set) return {};
    return {.kind = PlaceKind::in_class, .is_lasting = instances_keep_class(kind)};
}

PlainPlace find_place(PyTypeObject* type, PyObject* name, PyObject* value) noexcept {
    if (PyType_Check(value)) return find_place_in_class(type, name);
    if (!has_only_str_names(type) || hides_dict(type)) return {};
    const Start start = start_of(type, PyObject_GenericGetAttr);
    if (start == Start::other) return {};
    const bool is_only = start == Start::own;
    const Borrowed<> found = find_in_mro(type, name);
    if (!found)
        return {.kind = PlaceKind::instance, .is_lasting = true, .is_only = is_only};
    if (gives_class(found.get()))
        return {.kind = PlaceKind::class_of, .is_lasting = true};
    PyTypeObject* const kind = Py_TYPE(found.get());
    if (slot_content(found.get(), value).is_slot) {
        const auto* member =
            reinterpret_cast<const PyMemberDescrObject*>(found.get())->d_member;
        if (is_after_items(*member)) return {};  // elsewhere in each value
        return {.kind = PlaceKind::slot,
                .is_lasting = true,
                .is_optional = member->type == T_OBJECT_EX,
                .is_only = is_only,
                .at = member->offset};
    }
    const Py_ssize_t index = index_of_tuple_field(found.get());
    if (index >= 0 && PyTuple_Check(value))
        return {.kind = PlaceKind::item, .is_lasting = true, .at = index};
    if (kind->tp_descr_get && kind->tp_descr_set) return {};
    return {.kind = PlaceKind::instance,
            .is_lasting = instances_keep_class(kind),
            .has_default = !kind->tp_descr_get};
}

/// Whether descriptors of this type are what `getattr` returns when they are read from
/// the class itself.
bool is_unbound_in_class(PyTypeObject* kind) noexcept {
    return kind == &PyFunction_Type || kind == &PyProperty_Type ||
           kind == &PyWrapperDescr_Type || kind == &PyMethodDescr_Type ||
           kind == &PyMemberDescr_Type || kind == &PyGetSetDescr_Type;
}

}  // namespace

Borrowed<> default_of_class(PyObject* value, const HashedKey& name) noexcept {
    if (presence_in_instance(value, name) != Presence::absent) return nullptr;
    const Borrowed<> found = find_in_mro(Py_TYPE(value), name.value);
    return found && !Py_TYPE(found.get())->tp_descr_get ? found : nullptr;
}

Borrowed<> read_class_place(const PlainPlace& place, PyObject* value,
                            PyObject* name) noexcept {
    if (place.kind == PlaceKind::class_of) return as_object(Py_TYPE(value));
    auto* const type = reinterpret_cast<PyTypeObject*>(value);
    if (place.kind == PlaceKind::class_name) {
        if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return nullptr;
        return reinterpret_cast<PyHeapTypeObject*>(type)->ht_name;
    }
    const Borrowed<> found = find_in_mro(type, name);
    if (!found || !has_only_str_names(type)) return nullptr;
    PyTypeObject* const kind = Py_TYPE(found.get());
    return kind->tp_descr_get && !is_unbound_in_class(kind) ? nullptr : found;
}

PlainPlace plain_place(PyObject* value, PyObject* name) noexcept {
    PyTypeObject* const type = Py_TYPE(value);
    const unsigned tag = version_tag(type);
    if (tag) {
        if (const PlainPlace* known = known_places.find(tag, name)) return *known;
    }
    const PlainPlace place = find_place(type, name, value);
    if (tag && place.is_lasting && has_usual_mro(type))
        known_places.add(tag, name, place);
    return place;
}

bool lacks_plain_attribute(PyObject* value, const HashedKey& name) noexcept {
    const PlainPlace place = plain_place(value, name.value);
    if (!place.is_only) return false;
    if (place.kind == PlaceKind::slot) return !place.slot_of(value);
    return presence_in_instance(value, name) == Presence::absent;
}

bool has_plain_attribute(PyTypeObject* type, PyObject* name) noexcept {
    const bool is_builtin =
        type == &PyLong_Type || type == &PyFloat_Type || type == &PyComplex_Type ||
        type == &PyBool_Type || type == &PyUnicode_Type || type == &PyBytes_Type ||
        type == &PyTuple_Type || type == &PyList_Type || type == &PyDict_Type ||
        type == &PySet_Type || type == &PyFrozenSet_Type || type == &PyRange_Type ||
        type == &PySlice_Type;
    if (!is_builtin || type->tp_getattro != PyObject_GenericGetAttr) return false;
    PyObject* descriptor = find_in_mro(type, name).get();
    return !descriptor || Py_TYPE(descriptor) == &PyGetSetDescr_Type ||
           Py_TYPE(descriptor) == &PyMemberDescr_Type ||
           Py_TYPE(descriptor) == &PyMethodDescr_Type ||
           Py_TYPE(descriptor) == &PyWrapperDescr_Type;
}

}  // namespace guardtree
