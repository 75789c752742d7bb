// Keys, by which a table finds its entries.
// SPDX-License-Identifier: MIT
//
// A kind that passes only values with certain keys lists these keys (`add_keys`,
// hooks.h). A table computes the key of a value once and walks only the entries for
// that key, because the others would fail. Values with different keys differ. Equal
// keys prove nothing, so the table walks every guard of the entries found.
#pragma once
#include <Python.h>

#include <cstdint>
#include <span>
#include <vector>

#include "../../framelocals/cpython/compact_int.h"
namespace guardtree {

/// The property of a value that is its key.
enum class KeyKind : uint8_t {
    type,       ///< its exact type
    identity,   ///< its address
    constant,   ///< a number, or a hash: of a str, of the first parts of a container
    length,     ///< its length, as in builtin_length.h; with a `detail` of 1, unknown
                ///< for a value whose `__len__` may run
    prefix,     ///< the first `detail` characters of a str
    left,       ///< how many items a tuple or range iterator has left, and the number
                ///< that comes next
    function,   ///< the addresses of a function's parts, as in function_parts.h
    members,    ///< the hashes of the keys of a dict, of the members of a set
    dict_key,   ///< the hash of one of a dict's keys
    set_item,   ///< the hash of one of a set's items
    base,       ///< the address of a class in its type's MRO
    attribute,  ///< the hash of a name that it or a class in its type's MRO has; with a
                ///< `detail` of 1, unknown for a value whose `__getattr__` may run
    size,       ///< the size of a tensor's dimension `detail`
    tensor,     ///< the bits `detail` of a tensor's kind: element type, device, rank
    integer,    ///< a 64-bit int; checks pass ranges of it
};

struct KeyOf {
    KeyKind kind{};
    uint64_t detail = 0;

    /// Whether a value has several of these keys.
    bool are_several() const noexcept {
        return kind == KeyKind::dict_key || kind == KeyKind::set_item ||
               kind == KeyKind::base || kind == KeyKind::attribute;
    }

    /// Whether the key may be unknown, because user code would have to tell it or
    /// because there are too many.
    bool may_be_unknown() const noexcept {
        return are_several() || (kind == KeyKind::length && detail);
    }

    friend bool operator==(const KeyOf&, const KeyOf&) = default;
};

/// A check passes only values that have one of these keys. For the kind `integer`,
/// `values` holds the first and last value of a range, both included.
struct Keys {
    KeyOf of;
    std::vector<uint64_t> values;
};

inline uint64_t address_key(const void* object) noexcept {
    return reinterpret_cast<uintptr_t>(object);
}

/// The key of kind `constant` for values other than small ints and strs with a cached
/// hash.
[[gnu::cold]] uint64_t rare_constant_key(PyObject* value) noexcept;

/// The keys of a value that has more are not read.
constexpr Py_ssize_t max_read_keys = 64;

/// The key of kind `prefix`. False for a value that is no str, or a shorter one.
bool prefix_key(PyObject* value, uint64_t length, uint64_t& to) noexcept;

/// The key of kind `left`. False for a value that is no iterator of a tuple or range.
bool left_key(PyObject* value, uint64_t& to) noexcept;

/// The key of kind `members`. False for a value that is neither a dict nor exactly a
/// set or frozenset. Of more than max_read_keys members, only their number counts.
bool members_key(PyObject* value, uint64_t& to) noexcept;

/// The same of a dict that would have these keys. False if no dict can have them, or
/// if one is a NaN, whose hash depends on its address.
bool members_key_of(std::span<PyObject* const> keys, uint64_t& to) noexcept;

/// Equal for values that are equal by same_constant (constant.h). Runs no user code.
inline uint64_t constant_key(PyObject* value) noexcept {
    int64_t number = 0;
    if (PyLong_CheckExact(value) && read_compact_int(value, number))
        return static_cast<uint64_t>(number);
    if (PyUnicode_CheckExact(value)) {
        const Py_hash_t known = reinterpret_cast<PyASCIIObject*>(value)->hash;
        if (known != -1) return static_cast<uint64_t>(known);
    }
    return rare_constant_key(value);
}

}  // namespace guardtree
