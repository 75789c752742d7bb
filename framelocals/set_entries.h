// Walking the elements of a set without an iterator object.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// PyDict_Next for exact sets and frozensets: start with `*position` 0; `*key` is
/// borrowed. Allocates nothing, runs nothing. The set must not change meanwhile.
bool next_set_entry(PyObject* set, Py_ssize_t* position, PyObject** key) noexcept;

}  // namespace guardtree
