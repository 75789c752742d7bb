// Set elements through CPython's own walk, which 3.13 and later declare privately.
// SPDX-License-Identifier: MIT
#include "cpython/cpython.h"

#include "set_entries.h"

namespace guardtree {

bool next_set_entry(PyObject* set, Py_ssize_t* position, PyObject** key) noexcept {
    Py_hash_t hash = 0;
    return _PySet_NextEntry(set, position, key, &hash) != 0;
}

}  // namespace guardtree
