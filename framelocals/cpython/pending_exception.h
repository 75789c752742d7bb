// Where a thread keeps its pending exception. Public structs tell. Internal.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// PyErr_Occurred() of the thread that runs, without a call.
inline bool has_exception(const PyThreadState* thread) noexcept {
#if PY_VERSION_HEX >= 0x030C0000
    return thread->current_exception != nullptr;
#else
    return thread->curexc_type != nullptr;
#endif
}

}  // namespace guardtree
