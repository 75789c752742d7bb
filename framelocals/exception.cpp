// Saves and restores the pending exception, through the running version's file.
// SPDX-License-Identifier: MIT
#include "cpython/cpython.h"

#include "exception.h"

namespace guardtree {

Owned<> take_exception() noexcept {
    return Owned<>::steal(CPython::take_exception());
}

void raise_taken(Owned<> exception) noexcept {
    CPython::raise_taken(exception.release());
}

bool must_propagate() noexcept {
    return !PyErr_ExceptionMatches(PyExc_Exception) ||
           PyErr_ExceptionMatches(PyExc_MemoryError);
}

}  // namespace guardtree
