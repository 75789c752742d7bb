// Making a frame a frame of other code where it lies. Needs CPython's private headers,
// so it is for the hook alone; include framelocals/cpython/cpython.h first.
// SPDX-License-Identifier: MIT
#pragma once
#include "../framelocals/cpython/cpython.h"

#include "replacement.h"

namespace guardtree {

inline constexpr int generator_flags = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;

/// RETURN_GENERATOR goes by the function's code, not by the frame's: see
/// has_generator_function.
inline bool generator_fits(PyCodeObject* original, PyCodeObject* replacement) noexcept {
    return !(original->co_flags & generator_flags) ||
           CPython::frame_words(replacement) <= CPython::frame_words(original);
}

/// True when the function of `frame` makes the generator that the frame's code needs.
/// RETURN_GENERATOR takes its kind and size from the function's code, and user code may
/// have given the function another since the frame was made.
inline bool has_generator_function(const CPython::Frame* frame) noexcept {
    auto* code = CPython::code(frame);
    if (!(code->co_flags & generator_flags)) return true;
    const auto* function =
        reinterpret_cast<const PyFunctionObject*>(CPython::function(frame));
    auto* made_by = reinterpret_cast<PyCodeObject*>(function->func_code);
    return !((made_by->co_flags ^ code->co_flags) & generator_flags) &&
           CPython::frame_words(code) <= CPython::frame_words(made_by);
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
