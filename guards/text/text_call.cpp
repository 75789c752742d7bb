// Keeps exceptions that user code raises while text is produced.
// SPDX-License-Identifier: MIT
#include "text_call.h"

#include <utility>

#include "../../framelocals/exception.h"
#include "../../framelocals/no_memory.h"

namespace guardtree {

thread_local unsigned TextCall::open = 0;
thread_local PyObject* TextCall::kept = nullptr;

void TextCall::drop_exception() {
    if (!PyErr_Occurred()) return;
    if (PyErr_ExceptionMatches(PyExc_Exception)) return guardtree::drop_exception();
    if (open > 0 && !kept) {
        kept = take_exception().release();
        return;
    }
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
    PyErr_Clear();
}

bool TextCall::raise_kept() const noexcept {
    if (!kept) return false;
    PyErr_Clear();
    raise_taken(Owned<>::steal(std::exchange(kept, nullptr)));
    return true;
}

}  // namespace guardtree
