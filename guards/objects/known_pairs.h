// The results so far of a comparison of two constants with shared parts.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <utility>

namespace guardtree {

/// A map from pairs of objects to whether they are equal. It allocates nothing while it
/// is empty. If there is no memory it does not store a result, and the comparison takes
/// longer.
class KnownPairs {
public:
    enum class Answer : uint8_t { unknown, same, different };

    KnownPairs() noexcept = default;

    ~KnownPairs() { PyMem_RawFree(rows_); }

    KnownPairs(const KnownPairs&) = delete;
    KnownPairs& operator=(const KnownPairs&) = delete;

    Answer find(PyObject* value, PyObject* constant) const noexcept {
        if (!rows_) return Answer::unknown;
        const Row& row = row_of(value, constant);
        if (!row.value) return Answer::unknown;
        return row.is_same ? Answer::same : Answer::different;
    }

    /// Adds a pair that is not in the map yet.
    [[gnu::cold]] void add(PyObject* value, PyObject* constant, bool is_same) noexcept {
        if (!rows_ || 2 * count_ > mask_) {
            if (!grow()) return;
        }
        row_of(value, constant) = {value, constant, is_same};
        ++count_;
    }

private:
    struct Row {
        PyObject* value;
        PyObject* constant;
        bool is_same;
    };

    Row& row_of(PyObject* value, PyObject* constant) const noexcept {
        const auto a = reinterpret_cast<uintptr_t>(value) >> 4;
        const auto b = reinterpret_cast<uintptr_t>(constant) >> 4;
        size_t at = (a * 0x9E3779B97F4A7C15u ^ b * 0xD6E8FEB86659FD93u) >> 20;
        for (;; ++at) {
            Row& row = rows_[at & mask_];
            if (!row.value || (row.value == value && row.constant == constant))
                return row;
        }
    }

    bool grow() noexcept {
        const size_t before = rows_ ? mask_ + 1 : 0;
        const size_t after = before ? 4 * before : 4096;
        auto* const made = static_cast<Row*>(PyMem_RawCalloc(after, sizeof(Row)));
        if (!made) return false;
        Row* const old = std::exchange(rows_, made);
        mask_ = after - 1;
        for (size_t i = 0; i < before; ++i) {
            if (old[i].value) row_of(old[i].value, old[i].constant) = old[i];
        }
        PyMem_RawFree(old);
        return true;
    }

    Row* rows_ = nullptr;
    size_t mask_ = 0;
    size_t count_ = 0;
};

}  // namespace guardtree
