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
#include <cstring>
#include <vector>

#include "../../framelocals/cpython/compact_int.h"
namespace guardtree {

/// The property of a value that is its key.
enum class KeyKind : uint8_t {
    type,      ///< its exact type
    identity,  ///< its address
    constant,  ///< a number, the hash of a str, the type of other objects
    length,    ///< its length, as in builtin_length.h
    size,      ///< the size of a tensor's dimension `detail`
    tensor,    ///< the bits `detail` of a tensor's kind: element type, device, rank
    integer,   ///< a 64-bit int; checks pass ranges of it
};

struct KeyOf {
    KeyKind kind{};
    uint64_t detail = 0;

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
