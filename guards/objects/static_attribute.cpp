// Looks up attributes without user code.
// SPDX-License-Identifier: MIT
#include "static_attribute.h"

#include <structmember.h>

#include "../../framelocals/attributes.h"
#include "../../framelocals/cpython/dict_layout.h"
#include "../../framelocals/cpython/member.h"

#include "instance_attribute.h"

namespace guardtree {
namespace {

PyTypeObject* as_type(PyObject* object) noexcept {
    return reinterpret_cast<PyTypeObject*>(object);
}

/// A cache of names that the MRO of a type does not contain, for types with a usual
/// MRO. CPython replaces a type's tag if the type or a base changes, and never reuses a
/// tag. Entries hold their names, because they are compared by address.
class AbsentNames {
public:
    struct Entry {
        unsigned tag = 0;
        /// One more than the number of keys that instances shared when the name was not
        /// among them: such keys are added, but never removed. 0 if that is not known.
        uint32_t key_count_plus_one = 0;
        PyObject* name = nullptr;
    };

    Entry* find(unsigned tag, PyObject* name) noexcept {
        Entry& entry = entries_[place(tag, name)];
        return entry.tag == tag && entry.name == name ? &entry : nullptr;
    }

    /// `tag` is not 0.
    Entry* add(unsigned tag, PyObject* name) noexcept {
        Entry& entry = entries_[place(tag, name)];
        PyObject* const former = entry.name;
        entry = {tag, 0, Owned<>::share(name).release()};
        Owned<>::steal(former).reset();  // a str: no user code
        return &entry;
    }

private:
    static size_t place(unsigned tag, PyObject* name) noexcept {
        return (tag * 31 + (reinterpret_cast<uintptr_t>(name) >> 4)) % count;
    }

    static constexpr size_t count = 256;
    Entry entries_[count];
};

constinit AbsentNames absent_names;  // never freed, because it must outlive all guards

bool has_only_str_keys(PyObject* dict) noexcept {
    if (dict_keys(dict)->kind != KeyTable::general) return true;
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    while (PyDict_Next(dict, &position, &key, nullptr)) {
        if (!PyUnicode_CheckExact(key)) return false;
    }
    return true;
}

/// READ_RESTRICTED: reading raises an audit event, and user code may have a hook for
/// it.
constexpr int audited = 2;

}  // namespace

Borrowed<> find_in_mro(PyTypeObject* type, PyObject* name) noexcept {
    PyObject* mro = type->tp_mro;
    if (!mro) return nullptr;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(mro); ++i) {
        const Owned<> dict = type_dict(as_type(PyTuple_GET_ITEM(mro, i)));
        const Borrowed<> found = find_name(dict.get(), name);
        if (found) return found;
    }
    return nullptr;
}

bool has_only_str_names(PyTypeObject* type) noexcept {
    PyObject* const mro = type->tp_mro;
    if (!mro) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(mro); ++i) {
        const Owned<> dict = type_dict(as_type(PyTuple_GET_ITEM(mro, i)));
        if (!dict || !has_only_str_keys(dict.get())) return false;
    }
    return true;
}

bool has_usual_mro(PyTypeObject* type) noexcept {
    PyObject* const mro = type->tp_mro;
    if (!mro) return false;
    const Py_ssize_t count = PyTuple_GET_SIZE(mro);
    const auto is_a_base = [&](PyObject* each) {
        for (Py_ssize_t i = 0; i < count; ++i) {
            PyObject* const bases = as_type(PyTuple_GET_ITEM(mro, i))->tp_bases;
            const Py_ssize_t most = bases ? PyTuple_GET_SIZE(bases) : 0;
            for (Py_ssize_t k = 0; k < most; ++k)
                if (PyTuple_GET_ITEM(bases, k) == each) return true;
        }
        return false;
    };
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject* const each = PyTuple_GET_ITEM(mro, i);
        if (each != as_object(type) && !is_a_base(each)) return false;
    }
    return true;
}

unsigned make_version_tag(PyTypeObject* type) noexcept {
    static PyObject* const name = PyUnicode_InternFromString("__class__");
    if (!name) PyErr_Clear();
    if (!name || !has_only_str_names(type)) return 0;
    _PyType_Lookup(type, name);  // safe, because all keys are str
    return type->tp_version_tag;
}

SlotContent slot_content(PyObject* descriptor, PyObject* value) noexcept {
    if (Py_TYPE(descriptor) != &PyMemberDescr_Type) return {};
    const auto* member = reinterpret_cast<const PyMemberDescrObject*>(descriptor);
    // A class may contain a descriptor of another class with another layout.
    if (!PyObject_TypeCheck(value, member->d_common.d_type)) return {};
    const PyMemberDef& definition = *member->d_member;
    const bool is_optional = definition.type == T_OBJECT_EX;
    if (!is_optional && definition.type != T_OBJECT) return {};
    if (definition.flags & audited) return {};
    const char* place = place_of_member(value, definition);
    PyObject* content = *reinterpret_cast<PyObject* const*>(place);
    if (!content && !is_optional) content = Py_None;
    return {true, content};
}

namespace {

/// The keys that instances of a type share, if the value keeps its attributes by them:
/// inline, or in a dict that still has those keys.
const KeyTable* shared_keys(PyObject* value, PyTypeObject* type) noexcept {
    if (!has_managed_dict(type)) return nullptr;
    const KeyTable* const keys = instance_keys(type);
    if (instance_values(value, type)) return keys;
    PyObject* const dict = managed_dict(value);
    return dict && dict_keys(dict) == keys ? keys : nullptr;
}

/// Whether a value of a type with a managed dict has no attributes of its own. Up to
/// 3.12 a tensor has no inline values, and an empty dict once somebody asks for it.
bool has_nothing_itself(PyObject* value, PyTypeObject* type) noexcept {
    if (instance_values(value, type)) return false;
    PyObject* const dict = managed_dict(value);
    return !dict || PyDict_GET_SIZE(dict) == 0;
}

/// Whether neither the type nor its instances' keys have the name. False if that takes
/// a search, as for a class, whose dict is not managed.
bool is_known_absent(const AbsentNames::Entry* entry, PyObject* value,
                     PyTypeObject* type) noexcept {
    if (!entry || !has_managed_dict(type)) return false;
    if (has_nothing_itself(value, type)) return true;
    if (!entry->key_count_plus_one) return false;
    const KeyTable* const keys = shared_keys(value, type);
    return keys && keys->entry_count + 1 == entry->key_count_plus_one;
}

/// Apart, so that a known absence needs no stack frame.
[[gnu::noinline]] bool search_static_attribute(PyObject* value,
                                               PyObject* name) noexcept {
    PyTypeObject* const type = Py_TYPE(value);
    const bool is_type = PyType_Check(value);
    if (is_type && find_in_mro(as_type(value), name)) return true;
    const unsigned tag = version_tag(type);
    AbsentNames::Entry* entry = tag ? absent_names.find(tag, name) : nullptr;
    if (!entry) {
        const Borrowed<> found = find_in_mro(type, name);
        if (found) {
            const SlotContent slot = slot_content(found.get(), value);
            return !slot.is_slot || slot.content;
        }
        if (tag && has_usual_mro(type)) entry = absent_names.add(tag, name);
    }
    if (is_type) return false;
    const KeyTable* const keys = shared_keys(value, type);
    if (keys && entry && find_string(*keys, {name, hash_of_str(name)}) < 0) {
        entry->key_count_plus_one = static_cast<uint32_t>(keys->entry_count + 1);
        return false;
    }
    if (type->tp_dictoffset > 0) {  // not managed by CPython
        const char* const place =
            reinterpret_cast<const char*>(value) + type->tp_dictoffset;
        if (!*reinterpret_cast<PyObject* const*>(place)) return false;
    }
    const Presence presence = presence_in_instance(value, {name, hash_of_str(name)});
    if (presence != Presence::unknown) return presence == Presence::present;
    // Keys of user-defined types are not names.
    return static_cast<bool>(find_in_instance(value, name));
}

}  // namespace

bool has_static_attribute(PyObject* value, PyObject* name) noexcept {
    PyTypeObject* const type = Py_TYPE(value);
    const auto* const entry = absent_names.find(type->tp_version_tag, name);
    return !is_known_absent(entry, value, type) && search_static_attribute(value, name);
}

}  // namespace guardtree
