// Where a frame keeps its globals. No private header is needed to read it; view.cpp
// compares it with them. Internal, like them.
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
