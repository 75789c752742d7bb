// The pending exception, through the running version's file.
// SPDX-License-Identifier: MIT
#include "exception.h"

#include "cpython/cpython.h"

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
