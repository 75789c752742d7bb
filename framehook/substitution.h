// Making a frame a frame of other code where it lies. Needs CPython's private headers,
// so it is for the hook alone; include framelocals/cpython/cpython.h first.
// SPDX-License-Identifier: MIT
#pragma once
#include "../framelocals/cpython/cpython.h"

#include "replacement.h"

namespace guardtree {

inline constexpr int generator_flags = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;

/// RETURN_GENERATOR sizes the generator by the function's code, not by the frame's.
inline bool generator_fits(PyCodeObject* original, PyCodeObject* replacement) noexcept {
    return !(original->co_flags & generator_flags) ||
           CPython::frame_words(replacement) <= CPython::frame_words(original);
}

/// True when the frame can become a frame of `replacement` where it lies
/// (CPython::substitute); else it must be called. Nothing is allocated.
inline bool fits_in_place(PyThreadState* thread, const CPython::Frame* frame,
                          PyCodeObject* original, PyCodeObject* replacement) noexcept {
    if (always_call) [[unlikely]]
        return false;
    return generator_fits(original, replacement) &&
           CPython::can_substitute(thread, frame, original, replacement);
}

}  // namespace guardtree
