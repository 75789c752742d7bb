// Reads the tables of sets (setobject.h; the same from 3.11 to 3.15).
// SPDX-License-Identifier: MIT
#include "set_entries.h"

namespace guardtree {
namespace {

/// The hash of an entry whose element was deleted. Its key is not an object.
constexpr Py_hash_t deleted = -1;

}  // namespace

bool next_set_entry(PyObject* set, Py_ssize_t* position, PyObject** key,
                    Py_hash_t* hash) noexcept {
    const auto* const object = reinterpret_cast<PySetObject*>(set);
    while (*position <= object->mask) {
        const setentry& entry = object->table[(*position)++];
        if (!entry.key || entry.hash == deleted) continue;
        *key = entry.key;
        *hash = entry.hash;
        return true;
    }
    return false;
}

bool next_set_entry(PyObject* set, Py_ssize_t* position, PyObject** key) noexcept {
    Py_hash_t hash = 0;
    return next_set_entry(set, position, key, &hash);
}

// set_lookkey (Objects/setobject.c): runs of ten neighbours, then a jump. If CPython
// changed this, elements would not be found (never found wrongly), and the tests would
// fail.

SetProbe::SetProbe(PyObject* set, Py_hash_t hash) noexcept
    : table_(reinterpret_cast<PySetObject*>(set)->table),
      mask_(static_cast<size_t>(reinterpret_cast<PySetObject*>(set)->mask)),
      hash_(hash),
      perturb_(static_cast<size_t>(hash)),
      start_(static_cast<size_t>(hash) & mask_) {
    begin_run();
}

void SetProbe::begin_run() noexcept {
    constexpr size_t neighbours = 9;  // LINEAR_PROBES
    at_ = start_;
    run_end_ = start_ + (start_ + neighbours <= mask_ ? neighbours : 0);
}

PyObject* SetProbe::next() noexcept {
    for (;;) {
        const setentry& entry = table_[at_];
        if (!entry.key && entry.hash == 0) return nullptr;
        if (++at_ > run_end_) {
            perturb_ >>= 5;
            start_ = (start_ * 5 + 1 + perturb_) & mask_;
            begin_run();
        }
        if (entry.hash == hash_) return entry.key;
    }
}

}  // namespace guardtree
