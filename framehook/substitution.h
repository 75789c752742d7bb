// Turns a frame into a frame of other code in place. It needs CPython's private
// headers, so only the hook uses it. Include framelocals/cpython/cpython.h first.
// SPDX-License-Identifier: MIT
#pragma once
#include "../framelocals/cpython/cpython.h"

#include "replacement.h"

namespace guardtree {

inline constexpr int generator_flags = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;

/// RETURN_GENERATOR uses the function's code, not the frame's: see
/// has_generator_function.
inline bool generator_fits(PyCodeObject* original, PyCodeObject* replacement) noexcept {
    return !(original->co_flags & generator_flags) ||
           CPython::frame_words(replacement) <= CPython::frame_words(original);
}

/// Whether the function of `frame` creates the generator that the frame's code needs.
/// RETURN_GENERATOR takes its kind and size from the function's code, and user code may
/// have changed that since the frame was created.
inline bool has_generator_function(const CPython::Frame* frame) noexcept {
    auto* code = CPython::code(frame);
    if (!(code->co_flags & generator_flags)) return true;
    const auto* function =
        reinterpret_cast<const PyFunctionObject*>(CPython::function(frame));
    auto* made_by = reinterpret_cast<PyCodeObject*>(function->func_code);
    return !((made_by->co_flags ^ code->co_flags) & generator_flags) &&
           CPython::frame_words(code) <= CPython::frame_words(made_by);
}

/// Whether the frame can become a frame of `replacement` in place
/// (CPython::substitute). If not, it must be called. Allocates nothing.
inline bool fits_in_place(PyThreadState* thread, const CPython::Frame* frame,
                          PyCodeObject* original, PyCodeObject* replacement) noexcept {
    if (always_call) [[unlikely]]
        return false;
    return generator_fits(original, replacement) &&
           CPython::can_substitute(thread, frame, original, replacement);
}

}  // namespace guardtree
