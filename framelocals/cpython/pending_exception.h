// Where a thread stores its pending exception, according to public structs. Internal.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// PyErr_Occurred() for the current thread, without a call.
inline bool has_exception(const PyThreadState* thread) noexcept {
#if PY_VERSION_HEX >= 0x030C0000
    return thread->current_exception != nullptr;
#else
    return thread->curexc_type != nullptr;
#endif
}

}  // namespace guardtree
