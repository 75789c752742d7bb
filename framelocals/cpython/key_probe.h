// The order in which CPython searches the hash table of a dict. It is the same from
// 3.11 to 3.15. If it changed, keys would not be found (never found wrongly), and the
// tests would fail. Internal.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstring>

#include "dict_layout.h"

namespace guardtree {

/// The indices of entries with a hash, in probe order, up to the first slot that was
/// never used (lookdict, Objects/dictobject.c).
class KeyProbe {
public:
    KeyProbe(const KeyTable& keys, Py_hash_t hash) noexcept
        : keys_(keys),
          mask_((size_t{1} << keys.log2_size) - 1),
          at_(static_cast<size_t>(hash) & mask_),
          perturb_(static_cast<size_t>(hash)) {}

    /// The next index; -1 at the end. Deleted entries are skipped.
    Py_ssize_t next() noexcept {
        for (;;) {
            const Py_ssize_t place = index(at_);
            if (place == -1) return -1;
            perturb_ >>= 5;
            at_ = (at_ * 5 + perturb_ + 1) & mask_;
            if (place >= 0) return place;
        }
    }

private:
    template <class Integer>
    Py_ssize_t index_as(size_t at) const noexcept {
        Integer value;
        std::memcpy(&value, keys_.indices() + at * sizeof value, sizeof value);
        return static_cast<Py_ssize_t>(value);
    }

    Py_ssize_t index(size_t at) const noexcept {
        if (keys_.log2_size < 8) return index_as<int8_t>(at);
        if (keys_.log2_size < 16) return index_as<int16_t>(at);
        if (keys_.log2_size < 32) return index_as<int32_t>(at);
        return index_as<int64_t>(at);
    }

    const KeyTable& keys_;
    size_t mask_;
    size_t at_;
    size_t perturb_;
};

}  // namespace guardtree
