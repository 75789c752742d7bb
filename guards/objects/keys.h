// Keys: what a table finds its entries by.
// SPDX-License-Identifier: MIT
//
// A kind that passes only values of a few keys says so (`add_keys`, kind.h). A table
// makes the key of a value once and walks the entries that it leads to; the others
// would have failed. Values of different keys differ, equal keys say nothing: what is
// found is walked in full.
#pragma once
#include <Python.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "../../framelocals/cpython/compact_int.h"
namespace guardtree {

/// What of a value its key is.
enum class KeySort : uint8_t {
    type,      ///< its exact type
    identity,  ///< its address
    constant,  ///< a number, the hash of a text, the type of all else
    length,    ///< as guards/objects/builtin_length.h has it
    size,      ///< of a tensor's dimension `detail`
    tensor,    ///< the bits `detail` of a tensor's kind: element type, device, rank
    integer,   ///< an int of 64 bits; checks pass ranges of it
};

struct KeyOf {
    KeySort sort{};
    uint64_t detail = 0;

    friend bool operator==(const KeyOf&, const KeyOf&) = default;
};

/// A check passes only values that have one of these keys; of the sort `integer`, that
/// lie in the range from the first to the second, both included.
struct Keys {
    KeyOf of;
    std::vector<uint64_t> values;
};

inline uint64_t address_key(const void* object) noexcept {
    return reinterpret_cast<uintptr_t>(object);
}

/// Of the sort `constant`, what is neither a small int nor a str with a known hash.
[[gnu::cold]] uint64_t rare_constant_key(PyObject* value) noexcept;

/// Equal for values that same_constant (constant.h) takes for the same. No user code.
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
