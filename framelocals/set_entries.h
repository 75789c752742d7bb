// Iterates over the elements of a set, all or those with one hash, without an iterator
// object.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// Like PyDict_Next, for exact sets and frozensets: start with `*position` 0; `*key` is
/// borrowed. Allocates nothing and runs no code. The set must not change in the
/// meantime.
bool next_set_entry(PyObject* set, Py_ssize_t* position, PyObject** key) noexcept;

/// The same, and also returns the hash that the set stores for the element.
bool next_set_entry(PyObject* set, Py_ssize_t* position, PyObject** key,
                    Py_hash_t* hash) noexcept;

/// The elements of a set that have one hash, in the order in which CPython compares
/// them. Nothing is compared here, so no user code runs and no warning is issued. The
/// set must not change in the meantime.
class SetProbe {
public:
    SetProbe(PyObject* set, Py_hash_t hash) noexcept;

    /// Borrowed; null at the end.
    PyObject* next() noexcept;

private:
    void begin_run() noexcept;

    const setentry* table_;
    size_t mask_;
    Py_hash_t hash_;
    size_t perturb_;
    size_t start_;       ///< start of the run of neighbouring entries
    size_t at_ = 0;      ///< the entry to look at
    size_t run_end_ = 0;
};

}  // namespace guardtree
