// Running an entry's code in place of a frame's own, and which code can be run so.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../framelocals/ref.h"

struct _PyInterpreterFrame;

namespace guardtree {

/// Empty when `replacement` can run in frames of `original`, else what differs:
/// argument counts, kinds and names, free variables, generator kind. Other locals,
/// cells and the stack may differ.
std::string replacement_problem(PyCodeObject* original, PyCodeObject* replacement);

/// Slots of arguments, `*args` and `**kwargs` included: the first ones.
int argument_slots(PyCodeObject* code) noexcept;

/// Empty when the locals of `replacement` that have these names (a tuple) can be bound
/// before it starts; `slots` gets their places. Arguments and free variables cannot.
std::string bindings_problem(PyCodeObject* replacement, PyObject* names,
                             std::vector<uint16_t>& slots);

/// Whether frames of `original` can become frames of `replacement` where they lie as
/// far as the codes go: what has bindings does not run otherwise.
bool may_fit_in_place(PyCodeObject* original, PyCodeObject* replacement) noexcept;

/// Whether call_replacement gives the entry's code the builtins of `frame`. CPython
/// reads those of a class body or module from its globals, where they may be others by
/// now. Functions have theirs.
bool may_be_called(const _PyInterpreterFrame* frame, PyCodeObject* original) noexcept;

/// The fall-back: calls `replacement` as a function with the frame's arguments, clears
/// the frame, and returns the call's result (null with an exception set). One function
/// call for profilers and tracers, as in place. About 100 ns.
PyObject* call_replacement(PyThreadState* thread, _PyInterpreterFrame* frame,
                           PyCodeObject* original, PyCodeObject* replacement);

/// Tests run every replacement as a call with this.
[[gnu::visibility("hidden")]] extern bool always_call;

}  // namespace guardtree
