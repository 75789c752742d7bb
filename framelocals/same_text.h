// Equality of strs, without a call for short texts.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <cstring>

namespace guardtree {

/// Compares the first and the last `Word` of two texts of `bytes` bytes.
template <class Word>
[[gnu::always_inline]] inline bool same_ends(const char* a, const char* b,
                                             size_t bytes) noexcept {
    const auto word_at = [](const char* from) {
        Word word;
        std::memcpy(&word, from, sizeof word);
        return word;
    };
    const size_t last = bytes - sizeof(Word);
    return ((word_at(a) ^ word_at(b)) | (word_at(a + last) ^ word_at(b + last))) == 0;
}

/// memcmp(...) == 0, without a call for short texts (bench `slope/str_constant`).
[[gnu::always_inline]] inline bool same_bytes(const char* a, const char* b,
                                              size_t bytes) noexcept {
    if (bytes > 16) return std::memcmp(a, b, bytes) == 0;
    if (bytes >= 8) return same_ends<uint64_t>(a, b, bytes);
    if (bytes >= 4) return same_ends<uint32_t>(a, b, bytes);
    if (bytes >= 2) return same_ends<uint16_t>(a, b, bytes);
    return bytes == 0 || *a == *b;
}

/// Whether two exact strs have the same characters. CPython stores each text in the
/// narrowest possible form, so different forms mean different texts.
[[gnu::always_inline]] inline bool same_text(PyObject* a, PyObject* b) noexcept {
    const Py_ssize_t length = PyUnicode_GET_LENGTH(a);
    if (length != PyUnicode_GET_LENGTH(b)) return false;
    if (PyUnicode_IS_COMPACT_ASCII(a) && PyUnicode_IS_COMPACT_ASCII(b)) [[likely]] {
        return same_bytes(reinterpret_cast<const char*>(a) + sizeof(PyASCIIObject),
                          reinterpret_cast<const char*>(b) + sizeof(PyASCIIObject),
                          static_cast<size_t>(length));
    }
    const auto kind = PyUnicode_KIND(a);
    if (kind != PyUnicode_KIND(b)) return false;
    const auto* left = static_cast<const char*>(PyUnicode_DATA(a));
    const auto* right = static_cast<const char*>(PyUnicode_DATA(b));
    const size_t bytes = static_cast<size_t>(length) * static_cast<size_t>(kind);
    return same_bytes(left, right, bytes);
}

}  // namespace guardtree
