// Running an entry's code in place of a frame's own, and which code can be run so.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <string>

#include "../framelocals/ref.h"

struct _PyInterpreterFrame;

namespace guardtree {

/// Empty when `replacement` can run in frames of `original`, else what differs:
/// argument counts, kinds and names, free variables, generator kind. Other locals,
/// cells and the stack may differ.
std::string replacement_problem(PyCodeObject* original, PyCodeObject* replacement);

/// The fall-back: calls `replacement` as a function with the frame's arguments, clears
/// the frame, and returns the call's result (null with an exception set). One function
/// call for profilers and tracers, as in place. About 100 ns.
PyObject* call_replacement(PyThreadState* thread, _PyInterpreterFrame* frame,
                           PyCodeObject* original, PyCodeObject* replacement) noexcept;

/// Tests run every replacement as a call with this.
[[gnu::visibility("hidden")]] extern bool always_call;

}  // namespace guardtree
