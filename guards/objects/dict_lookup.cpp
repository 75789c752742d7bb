// CPython's look-up in dicts (key_probe.h). Keys are compared by address first, and
// never by user code.
// SPDX-License-Identifier: MIT
#include "dict_lookup.h"

#include "../../framelocals/cpython/key_probe.h"

#include "constant_compare.h"

namespace guardtree {
namespace {

bool is_number(PyObject* scalar) noexcept {
    return PyLong_Check(scalar) || PyFloat_Check(scalar) || PyComplex_Check(scalar);
}

enum class Equality : uint8_t { equal, different, unknown };

/// Whether dict treats two keys with the same hash as equal, if this can be decided
/// without user code.
Equality compare(PyObject* a, PyObject* b, int depth = 0) noexcept {
    if (a == b) return Equality::equal;
    if (is_scalar(a) && is_scalar(b)) {
        // Comparing bytes with a str or an int issues a warning (-b).
        if (Py_TYPE(a) != Py_TYPE(b) && (!is_number(a) || !is_number(b)))
            return Equality::different;
        const int answer = PyObject_RichCompareBool(a, b, Py_EQ);
        if (answer < 0) PyErr_Clear();  // no memory
        if (answer < 0) return Equality::unknown;
        return answer ? Equality::equal : Equality::different;
    }
    if (is_scalar(a) || is_scalar(b)) {
        const bool differs = differs_from_scalars(is_scalar(a) ? b : a);
        return differs ? Equality::different : Equality::unknown;
    }
    constexpr int deepest = 32;
    if (!PyTuple_CheckExact(a) || !PyTuple_CheckExact(b) || depth == deepest) {
        return Equality::unknown;
    }
    if (Py_SIZE(a) != Py_SIZE(b)) return Equality::different;
    for (Py_ssize_t i = 0; i < Py_SIZE(a); ++i) {
        const Equality each =
            compare(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i), depth + 1);
        if (each != Equality::equal) return each;
    }
    return Equality::equal;
}

constexpr Py_ssize_t not_found = -1;
constexpr Py_ssize_t undecided = -2;

/// Finds a key in a table with keys of any type. It looks at all keys with the same
/// hash, because dict might find one that cannot be decided here.
Py_ssize_t find_among_any(const KeyTable& keys, const HashedKey& key) noexcept {
    const auto* entries = keys.entries<DictGeneralEntry>();
    Py_ssize_t found = not_found;
    KeyProbe probe(keys, key.hash);
    for (Py_ssize_t place = probe.next(); place >= 0; place = probe.next()) {
        const DictGeneralEntry& entry = entries[place];
        if (!entry.key || entry.hash != key.hash) continue;
        const Equality equality = compare(entry.key, key.value);
        if (equality == Equality::unknown) return undecided;
        if (equality == Equality::equal && found < 0) found = place;
    }
    return found;
}

/// Whether an entry of a table of strs has this key.
bool is_key(const KeyTable& keys, Py_ssize_t place, const HashedKey& key) noexcept {
    PyObject* present = keys.entries<DictStringEntry>()[place].key;
    if (present == key.value) return true;
    return present && PyUnicode_CheckExact(key.value) &&
           hash_of_str(present) == key.hash && same_text(present, key.value);
}

/// The same for an object of at most `budget` parts.
bool is_fixed_constant(PyObject* value, int& budget) noexcept {
    constexpr Py_ssize_t longest = 1024;
    PyTypeObject* type = Py_TYPE(value);
    if (budget-- <= 0) return false;
    if (type == &PyUnicode_Type) return PyUnicode_GET_LENGTH(value) <= longest;
    if (type == &PyBytes_Type) return PyBytes_GET_SIZE(value) <= longest;
    if (type != &PyTuple_Type) return is_scalar(value);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i) {
        if (!is_fixed_constant(PyTuple_GET_ITEM(value, i), budget)) return false;
    }
    return true;
}

}  // namespace

Py_ssize_t find_string(const KeyTable& keys, const HashedKey& key) noexcept {
    if (keys.entry_count == 0 || !PyUnicode_CheckExact(key.value)) return -1;
    KeyProbe probe(keys, key.hash);
    for (Py_ssize_t place = probe.next(); place >= 0; place = probe.next()) {
        if (is_key(keys, place, key)) return place;
    }
    return -1;
}

Borrowed<> search_dict(PyObject* dict, const HashedKey& key,
                       Remembered remembered) noexcept {
    const KeyTable& keys = *dict_keys(dict);
    if (keys.kind == KeyTable::general) {
        const Py_ssize_t place = find_among_any(keys, key);
        return place < 0 ? nullptr : keys.entries<DictGeneralEntry>()[place].value;
    }
    // A key that is not interned may be in the table as a different object.
    const Py_ssize_t last = remembered.place();
    const bool is_there = last < keys.entry_count && is_key(keys, last, key);
    const Py_ssize_t place = is_there ? last : find_string(keys, key);
    if (place < 0) return nullptr;
    remembered.remember(static_cast<size_t>(place));
    return string_entry_value(dict, static_cast<size_t>(place));
}

PyObject* const* place_in_dict(PyObject* dict, const HashedKey& key) noexcept {
    const KeyTable& keys = *dict_keys(dict);
    if (keys.kind == KeyTable::general) {
        const Py_ssize_t at = find_among_any(keys, key);
        return at < 0 ? nullptr : &keys.entries<DictGeneralEntry>()[at].value;
    }
    const Py_ssize_t at = find_string(keys, key);
    if (at < 0) return nullptr;
    PyObject* const* values = split_values(dict);
    return values ? values + at : &keys.entries<DictStringEntry>()[at].value;
}

bool is_fixed_constant(PyObject* value) noexcept {
    int budget = 64;
    return is_fixed_constant(value, budget);
}

DictEntry dict_entry_at(PyObject* dict, Py_ssize_t position) noexcept {
    if (!PyDict_Check(dict)) return {};
    const EntryPlace place = place_of_entry(dict, position);
    if (place.value) [[likely]]
        return {*place.key, *place.value};
    Py_ssize_t left = position < 0 ? position + PyDict_GET_SIZE(dict) : position;
    Py_ssize_t at = 0;
    DictEntry entry;
    while (left >= 0 && PyDict_Next(dict, &at, &entry.key, &entry.value)) {
        if (left-- == 0) return entry;
    }
    return {};
}

EntryPlace place_of_entry(PyObject* dict, Py_ssize_t position) noexcept {
    const KeyTable& keys = *dict_keys(dict);
    const Py_ssize_t size = PyDict_GET_SIZE(dict);
    const Py_ssize_t place = position < 0 ? position + size : position;
    if (place < 0 || place >= size || keys.entry_count != size) return {};
    if (keys.kind == KeyTable::general) {
        const DictGeneralEntry& entry = keys.entries<DictGeneralEntry>()[place];
        return {&entry.key, &entry.value};
    }
    if (keys.kind != KeyTable::strings) return {};
    const DictStringEntry& entry = keys.entries<DictStringEntry>()[place];
    return {&entry.key, &entry.value};
}

Presence presence_in_dict(PyObject* dict, const HashedKey& key) noexcept {
    if (!PyDict_Check(dict)) return Presence::unknown;
    const KeyTable& keys = *dict_keys(dict);
    if (keys.kind == KeyTable::general) {
        const Py_ssize_t place = find_among_any(keys, key);
        if (place == undecided) return Presence::unknown;
        return place == not_found ? Presence::absent : Presence::present;
    }
    const Py_ssize_t place = find_string(keys, key);
    const bool is_there =
        place >= 0 && string_entry_value(dict, static_cast<size_t>(place));
    return is_there ? Presence::present : Presence::absent;
}

Borrowed<> find_in_dict(PyObject* dict, const HashedKey& key) noexcept {
    if (!dict || !PyDict_Check(dict)) return nullptr;
    uint16_t unused = 0;
    return search_dict(dict, key, Remembered(unused));
}

}  // namespace guardtree
