// Computes the keys that are not inline in keys.h.
// SPDX-License-Identifier: MIT
#include "keys.h"

#include <bit>

#include "../../framelocals/iterators.h"

#include "constant.h"

namespace guardtree {
namespace {

uint64_t members_key(Py_ssize_t size, size_t sum_of_hashes) noexcept {
    return static_cast<uint64_t>(size) ^ sum_of_hashes << 8;
}

}  // namespace

uint64_t rare_constant_key(PyObject* value) noexcept {
    if (PyFloat_CheckExact(value))
        return std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(value));
    // Hashing objects of exactly these types runs no user code and does not fail.
    if (PyUnicode_CheckExact(value) || PyLong_CheckExact(value) ||
        PyBytes_CheckExact(value)) {
        return static_cast<uint64_t>(PyObject_Hash(value));
    }
    return hash_of_value(value, max_read_keys);
}

bool prefix_key(PyObject* value, uint64_t length, uint64_t& to) noexcept {
    const auto count = static_cast<Py_ssize_t>(length);
    if (!PyUnicode_CheckExact(value) || PyUnicode_GET_LENGTH(value) < count)
        return false;
    const int width = PyUnicode_KIND(value);
    const void* const text = PyUnicode_DATA(value);
    to = length;
    for (Py_ssize_t i = 0; i < count; ++i)
        to = (to ^ PyUnicode_READ(width, text, i)) * 0x100000001B3u;
    return true;
}

bool left_key(PyObject* value, uint64_t& to) noexcept {
    TupleLeft items;
    if (read_tuple_iterator(value, items)) {
        to = static_cast<uint64_t>(items.length);
        return true;
    }
    RangeLeft numbers;
    if (!read_range_iterator(value, numbers)) return false;
    const bool is_empty = numbers.length <= 0;
    to = is_empty ? 0
                  : static_cast<uint64_t>(numbers.length) ^
                        static_cast<uint64_t>(numbers.start) << 32;
    return true;
}

bool members_key(PyObject* value, uint64_t& to) noexcept {
    const bool is_dict = PyDict_Check(value);
    if (!is_dict && !PyAnySet_CheckExact(value)) return false;
    const Py_ssize_t size = is_dict ? PyDict_GET_SIZE(value) : PySet_GET_SIZE(value);
    to = members_key(size, size <= max_read_keys ? sum_of_hashes(value) : 0);
    return true;
}

bool members_key_of(std::span<PyObject* const> keys, uint64_t& to) noexcept {
    const auto size = static_cast<Py_ssize_t>(keys.size());
    size_t sum = 0;
    for (PyObject* key : keys) {
        if (contains_nan(key)) return false;
        const Py_hash_t hash = PyObject_Hash(key);
        if (hash == -1) {
            PyErr_Clear();
            return false;
        }
        sum += static_cast<size_t>(hash);
    }
    to = members_key(size, size <= max_read_keys ? sum : 0);
    return true;
}

}  // namespace guardtree
