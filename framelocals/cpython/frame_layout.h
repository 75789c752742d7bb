// Where a frame stores its globals. Reading them needs no private header; view.cpp
// compares the two. Internal.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstddef>

struct _PyInterpreterFrame;

namespace guardtree {

/// _PyInterpreterFrame::f_globals (Include/internal/pycore_frame.h).
#if PY_VERSION_HEX >= 0x030C0000
inline constexpr size_t frame_globals_offset = 3 * sizeof(void*);
#else
inline constexpr size_t frame_globals_offset = sizeof(void*);
#endif

/// The globals of a frame, borrowed.
inline PyObject* frame_globals(const _PyInterpreterFrame* frame) noexcept {
    const char* place = reinterpret_cast<const char*>(frame) + frame_globals_offset;
    return *reinterpret_cast<PyObject* const*>(place);
}

}  // namespace guardtree
