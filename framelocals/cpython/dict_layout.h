// Where dicts and instances store keys and values. Reading them needs no private
// header; dict_layout_check.cpp compares the two. Internal.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstddef>
#include <cstdint>

namespace guardtree {

/// The key table of a dict: this header, the hash table of indices, the entries
/// (_dictkeysobject, Include/internal/pycore_dict.h; the same from 3.11 to 3.15).
struct KeyTable {
    enum Kind : uint8_t {
        general = 0,  ///< any keys, with their hashes
        strings = 1,  ///< exact strs, with their values
        split = 2,    ///< exact strs; the values are stored elsewhere
    };

    Py_ssize_t references;
    uint8_t log2_size;         ///< of the number of indices
    uint8_t log2_index_bytes;  ///< of the bytes of all indices
    uint8_t kind;
    uint32_t version;
    Py_ssize_t usable;
    Py_ssize_t entry_count;  ///< entries used so far, including deleted ones

    const int8_t* indices() const noexcept {
        return reinterpret_cast<const int8_t*>(this + 1);
    }

    template <class Entry>
    const Entry* entries() const noexcept {
        return reinterpret_cast<const Entry*>(indices() +
                                              (size_t{1} << log2_index_bytes));
    }
};

/// An entry of a table of kind strings or split.
struct DictStringEntry {
    PyObject* key;
    PyObject* value;
};

/// An entry of a table of kind general.
struct DictGeneralEntry {
    Py_hash_t hash;
    PyObject* key;
    PyObject* value;
};

inline const KeyTable* dict_keys(PyObject* dict) noexcept {
    return reinterpret_cast<const KeyTable*>(
        reinterpret_cast<PyDictObject*>(dict)->ma_keys);
}

/// The address of a dict's pointer to its table.
inline const void* place_of_keys(PyObject* dict) noexcept {
    return &reinterpret_cast<PyDictObject*>(dict)->ma_keys;
}

/// The values of a split dict or of an instance, given the block that contains them.
/// From 3.13 on, four bytes of bookkeeping come first (_dictvalues).
inline PyObject* const* values_in(const void* block) noexcept {
#if PY_VERSION_HEX >= 0x030D0000
    constexpr size_t offset = sizeof(void*);
#else
    constexpr size_t offset = 0;
#endif
    return reinterpret_cast<PyObject* const*>(static_cast<const char*>(block) + offset);
}

/// The values of a dict, if they are stored outside its keys. Otherwise null.
inline PyObject* const* split_values(PyObject* dict) noexcept {
    const void* block = reinterpret_cast<PyDictObject*>(dict)->ma_values;
    return block ? values_in(block) : nullptr;
}

/// The value of an entry of a dict whose keys are all str.
inline PyObject* string_entry_value(PyObject* dict, size_t place) noexcept {
    PyObject* const* values = split_values(dict);
    return values ? values[place]
                  : dict_keys(dict)->entries<DictStringEntry>()[place].value;
}

/// The value of an interned str at `place` of the dict. Null if that key is not there.
inline PyObject* string_value_at(PyObject* dict, PyObject* key, size_t place) noexcept {
    const KeyTable* keys = dict_keys(dict);
    if (keys->kind == KeyTable::general ||
        place >= static_cast<size_t>(keys->entry_count) ||
        keys->entries<DictStringEntry>()[place].key != key) {
        return nullptr;
    }
    return string_entry_value(dict, place);
}

/// The hash that a dict stores for a key. PyDict_Next left `position` after the entry.
inline Py_hash_t key_hash(PyObject* dict, Py_ssize_t position, PyObject* key) noexcept {
    const KeyTable& keys = *dict_keys(dict);
    if (keys.kind == KeyTable::general)
        return keys.entries<DictGeneralEntry>()[position - 1].hash;
    return reinterpret_cast<PyASCIIObject*>(key)->hash;
}

inline Py_hash_t stored_hash(const DictStringEntry& entry) noexcept {
    return reinterpret_cast<PyASCIIObject*>(entry.key)->hash;
}

inline Py_hash_t stored_hash(const DictGeneralEntry& entry) noexcept {
    return entry.hash;
}

/// Calls `use(hash)` for each key of a table whose values are stored elsewhere, until
/// it returns false. False then.
template <class Use>
bool each_hash_of(const KeyTable& keys, PyObject* const* values, Use use) noexcept {
    const auto* entries = keys.entries<DictStringEntry>();
    for (Py_ssize_t i = 0; i < keys.entry_count; ++i) {
        if (values[i] && !use(stored_hash(entries[i]))) return false;
    }
    return true;
}

/// The same for a table that has its own values.
template <class Entry, class Use>
bool each_hash_in(const KeyTable& keys, Use use) noexcept {
    const auto* entries = keys.entries<Entry>();
    for (Py_ssize_t i = 0; i < keys.entry_count; ++i) {
        if (entries[i].value && !use(stored_hash(entries[i]))) return false;
    }
    return true;
}

/// The same for each key of a dict or a subclass of dict. Linear in the entries, the
/// deleted ones included.
template <class Use>
bool each_hash(PyObject* dict, Use use) noexcept {
    const KeyTable& keys = *dict_keys(dict);
    switch (keys.kind) {
    case KeyTable::general: return each_hash_in<DictGeneralEntry>(keys, use);
    case KeyTable::strings: return each_hash_in<DictStringEntry>(keys, use);
    default: return each_hash_of(keys, split_values(dict), use);
    }
}

/// The keys for the inline values of an instance without a dict of its own.
inline const KeyTable* instance_keys(PyTypeObject* type) noexcept {
    return reinterpret_cast<const KeyTable*>(
        reinterpret_cast<PyHeapTypeObject*>(type)->ht_cached_keys);
}

/// Whether instances of a type have a managed dict, which CPython stores before the
/// object.
inline bool has_managed_dict(PyTypeObject* type) noexcept {
    return PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT);
}

/// The inline values of an instance that has no dict, or (3.13 on) whose dict shares
/// them. Null if the attributes are in a dict. Only for types with a managed dict. See
/// `_PyObject_*` in Include/internal/pycore_object.h.
inline PyObject* const* instance_values(PyObject* object, PyTypeObject* type) noexcept {
#if PY_VERSION_HEX >= 0x030D0000
    if (!PyType_HasFeature(type, Py_TPFLAGS_INLINE_VALUES)) return nullptr;
    const char* block = reinterpret_cast<const char*>(object) + type->tp_basicsize;
    constexpr size_t valid = 3;  // the byte that says whether the values are valid
    return block[valid] ? values_in(block) : nullptr;
#elif PY_VERSION_HEX >= 0x030C0000
    static_cast<void>(type);
    const uintptr_t word = reinterpret_cast<const uintptr_t*>(object)[-3];
    return word & 1 ? values_in(reinterpret_cast<const void*>(word + 1)) : nullptr;
#else
    static_cast<void>(type);
    const void* block = reinterpret_cast<const void* const*>(object)[-4];
    return block ? values_in(block) : nullptr;
#endif
}

/// The dict of an instance of a type with a managed dict. Borrowed, and null if it has
/// none. Call it only if instance_values is null.
inline PyObject* managed_dict(PyObject* object) noexcept {
    return reinterpret_cast<PyObject* const*>(object)[-3];
}

/// The address of the dict pointer of an instance of a type with a managed dict. Null
/// if it has no dict. From 3.13 on the dict may share the instance's inline values.
inline PyObject* const* place_of_managed_dict(PyObject* object) noexcept {
    PyObject* const* place = reinterpret_cast<PyObject* const*>(object) - 3;
#if PY_VERSION_HEX >= 0x030D0000
    return *place ? place : nullptr;
#else
    return *place && !instance_values(object, Py_TYPE(object)) ? place : nullptr;
#endif
}

}  // namespace guardtree
