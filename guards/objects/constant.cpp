// The exact equality of constants.
// SPDX-License-Identifier: MIT
#include "constant.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "../../framelocals/cpython/key_probe.h"
#include "../../framelocals/same_text.h"
#include "../../framelocals/set_entries.h"

#include "constant_compare.h"
#include "dict_lookup.h"
#include "known_pairs.h"

namespace guardtree {
namespace {

bool same_complex(PyObject* a, PyObject* b) noexcept {
    const Py_complex x = PyComplex_AsCComplex(a);
    const Py_complex y = PyComplex_AsCComplex(b);
    return same_bits(x.real, y.real) && same_bits(x.imag, y.imag);
}

/// Whether objects of exactly this type contain other constants.
bool has_parts(PyTypeObject* type) noexcept {
    return type == &PyTuple_Type || type == &PyList_Type || type == &PyDict_Type ||
           type == &PySet_Type || type == &PyFrozenSet_Type;
}

/// Compares two objects of one type without parts. False for user-defined types.
bool same_leaf(PyObject* value, PyObject* constant, PyTypeObject* type) noexcept {
    if (type == &PyLong_Type)
        return PyObject_RichCompareBool(value, constant, Py_EQ) == 1;
    if (type == &PyUnicode_Type) return same_text(value, constant);
    if (type == &PyFloat_Type) {
        return same_bits(PyFloat_AS_DOUBLE(value), PyFloat_AS_DOUBLE(constant));
    }
    if (type == &PyBytes_Type) {
        return Py_SIZE(value) == Py_SIZE(constant) &&
               std::memcmp(PyBytes_AS_STRING(value), PyBytes_AS_STRING(constant),
                           static_cast<size_t>(Py_SIZE(value))) == 0;
    }
    return type == &PyComplex_Type && same_complex(value, constant);
}

/// One comparison. A part that is reached in several ways, in the value and in the
/// constant, is compared once.
class Comparison {
public:
    bool same(PyObject* value, PyObject* constant) noexcept {
        if (value == constant) return true;
        PyTypeObject* type = Py_TYPE(constant);
        if (Py_TYPE(value) != type) return false;
        return has_parts(type) ? same_whole(value, constant, type)
                               : same_leaf(value, constant, type);
    }

    bool same_whole(PyObject* value, PyObject* constant, PyTypeObject* type) noexcept {
        // An object that is reached in several ways has several references.
        if (Py_REFCNT(value) == 1 || Py_REFCNT(constant) == 1)
            return same_parts(value, constant, type);
        const auto known = pairs_.find(value, constant);
        if (known != KnownPairs::Answer::unknown)
            return known == KnownPairs::Answer::same;
        const bool is_same = same_parts(value, constant, type);
        if (++compared_ > compared_without_pairs) [[unlikely]]
            pairs_.add(value, constant, is_same);
        return is_same;
    }

    bool same_set(PyObject* value, PyObject* constant) noexcept {
        if (PySet_GET_SIZE(value) != PySet_GET_SIZE(constant)) return false;
        Py_ssize_t position = 0;
        PyObject* key = nullptr;
        Py_hash_t hash = 0;
        while (next_set_entry(value, &position, &key, &hash)) {
            if (!is_in_set(constant, key, hash)) return false;
        }
        return true;
    }

    /// `constant` is a set or frozenset of constants. A key of user data comes with the
    /// hash that its container stores, so no method of the key is called.
    bool is_in_set(PyObject* constant, PyObject* key, Py_hash_t hash) noexcept {
        SetProbe probe(constant, hash);
        while (PyObject* candidate = probe.next()) {
            if (same(key, candidate)) return true;
        }
        return false;
    }

private:
    static constexpr size_t compared_without_pairs = 4096;

    bool same_parts(PyObject* value, PyObject* constant, PyTypeObject* type) noexcept {
        if (type == &PyDict_Type) return same_dict(value, constant);
        if (type == &PySet_Type || type == &PyFrozenSet_Type)
            return same_set(value, constant);
        const Py_ssize_t size = Py_SIZE(constant);
        if (Py_SIZE(value) != size) return false;
        PyObject* const* a = PySequence_Fast_ITEMS(value);
        PyObject* const* b = PySequence_Fast_ITEMS(constant);
        for (Py_ssize_t i = 0; i < size; ++i) {
            if (!same(a[i], b[i])) return false;
        }
        return true;
    }

    bool same_dict(PyObject* value, PyObject* constant) noexcept {
        if (PyDict_GET_SIZE(value) != PyDict_GET_SIZE(constant)) return false;
        Py_ssize_t position = 0;
        PyObject* key = nullptr;
        PyObject* item = nullptr;
        while (PyDict_Next(value, &position, &key, &item)) {
            const Py_hash_t hash = key_hash(value, position, key);
            PyObject* expected = value_in(constant, key, hash);
            if (!expected || !same(item, expected)) return false;
        }
        return true;
    }

    /// The value of a key of user data in a dict of constants, or null.
    PyObject* value_in(PyObject* constant, PyObject* key, Py_hash_t hash) noexcept {
        const KeyTable& keys = *dict_keys(constant);
        if (keys.kind != KeyTable::general) {
            const Py_ssize_t place = find_string(keys, {key, hash});
            return place < 0 ? nullptr
                             : string_entry_value(constant, static_cast<size_t>(place));
        }
        const auto* entries = keys.entries<DictGeneralEntry>();
        KeyProbe probe(keys, hash);
        for (Py_ssize_t at = probe.next(); at >= 0; at = probe.next()) {
            const DictGeneralEntry& entry = entries[at];
            if (entry.hash == hash && entry.key && same(key, entry.key))
                return entry.value;
        }
        return nullptr;
    }

    KnownPairs pairs_;
    size_t compared_ = 0;
};

/// The hash of a float, consistent with same_bits.
size_t hash_of_bits(double number) noexcept {
    return std::bit_cast<uint64_t>(number) * 0x9E3779B97F4A7C15u >> 7;
}

/// Of any object: from the value of numbers and texts, otherwise from the type.
size_t hash_of_part(PyObject* object) noexcept {
    PyTypeObject* type = Py_TYPE(object);
    size_t hash = reinterpret_cast<uintptr_t>(type) >> 4;
    const auto mix = [&](size_t part) { hash = (hash ^ part) * 0x100000001B3u; };
    if (type == &PyFloat_Type) {
        mix(hash_of_bits(PyFloat_AS_DOUBLE(object)));
    } else if (type == &PyComplex_Type) {
        const Py_complex number = PyComplex_AsCComplex(object);
        mix(hash_of_bits(number.real));
        mix(hash_of_bits(number.imag));
    } else if (is_scalar(object)) {
        mix(static_cast<size_t>(PyObject_Hash(object)));  // runs no user code
    }
    return hash;
}

size_t hash_of_keys(PyObject* dict) noexcept {
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    size_t sum = 0;
    while (PyDict_Next(dict, &position, &key, &item)) {
        const auto hash = static_cast<size_t>(key_hash(dict, position, key));
        sum += (hash + 1) * (hash_of_part(item) | 1);
    }
    return sum;
}

/// `left`: how many more parts of sequences it may read.
size_t hash_to(PyObject* object, int depth, int& left, Py_ssize_t max_keys) noexcept {
    size_t hash = hash_of_part(object);
    const auto mix = [&](size_t part) { hash = (hash ^ part) * 0x100000001B3u; };
    if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) {
        mix(static_cast<size_t>(Py_SIZE(object)));
        for (Py_ssize_t i = 0; i < Py_SIZE(object) && depth > 0 && left > 0; ++i) {
            --left;
            mix(hash_to(PySequence_Fast_ITEMS(object)[i], depth - 1, left, max_keys));
        }
    } else if (PyDict_CheckExact(object)) {
        mix(static_cast<size_t>(PyDict_GET_SIZE(object)));
        if (PyDict_GET_SIZE(object) <= max_keys) mix(hash_of_keys(object));
    } else if (PyAnySet_CheckExact(object)) {
        mix(static_cast<size_t>(PySet_GET_SIZE(object)));
        if (PySet_GET_SIZE(object) <= max_keys) mix(sum_of_hashes(object));
    }
    return hash;
}

}  // namespace

size_t sum_of_hashes(PyObject* container) noexcept {
    size_t sum = 0;
    if (PyDict_Check(container)) {
        each_hash(container, [&](Py_hash_t hash) {
            sum += static_cast<size_t>(hash);
            return true;
        });
        return sum;
    }
    Py_ssize_t position = 0;
    PyObject* item = nullptr;
    Py_hash_t hash = 0;
    while (next_set_entry(container, &position, &item, &hash))
        sum += static_cast<size_t>(hash);
    return sum;
}

size_t hash_of_value(PyObject* value, Py_ssize_t max_keys) noexcept {
    constexpr int max_depth = 3;
    int left = 64;
    return hash_to(value, max_depth, left, max_keys);
}

bool same_constant(PyObject* value, PyObject* constant) noexcept {
    if (value == constant) return true;
    PyTypeObject* type = Py_TYPE(constant);
    if (Py_TYPE(value) != type) return false;
    if (!has_parts(type)) return same_leaf(value, constant, type);
    return Comparison().same_whole(value, constant, type);
}

bool has_keys_in_order(PyObject* dict, PyObject* constants) noexcept {
    if (!PyDict_Check(dict)) return false;
    const Py_ssize_t count = PyTuple_GET_SIZE(constants);
    if (PyDict_GET_SIZE(dict) != count) return false;
    Comparison comparison;
    Py_ssize_t position = 0;
    Py_ssize_t i = 0;
    PyObject* key = nullptr;
    while (i < count && PyDict_Next(dict, &position, &key, nullptr)) {
        if (!comparison.same(key, PyTuple_GET_ITEM(constants, i++))) return false;
    }
    return i == count;
}

bool has_keys(PyObject* dict, PyObject* constants) noexcept {
    if (!PyDict_Check(dict) || PyDict_GET_SIZE(dict) != PySet_GET_SIZE(constants)) {
        return false;
    }
    Comparison comparison;
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    while (PyDict_Next(dict, &position, &key, nullptr)) {
        if (!comparison.is_in_set(constants, key, key_hash(dict, position, key)))
            return false;
    }
    return true;
}

bool has_members(PyObject* value, PyObject* constants) noexcept {
    return (PySet_CheckExact(value) || PyFrozenSet_CheckExact(value)) &&
           Comparison().same_set(value, constants);
}

}  // namespace guardtree
