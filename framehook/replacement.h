// Runs an entry's code instead of a frame's own, and decides which code can be used.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../framelocals/ref.h"

struct _PyInterpreterFrame;

namespace guardtree {

/// Empty if `replacement` can run in frames of `original`, otherwise the difference:
/// argument counts, kinds and names, free variables, generator kind. Other locals,
/// cells and the stack size may differ.
std::string replacement_problem(PyCodeObject* original, PyCodeObject* replacement);

/// The number of argument slots, including `*args` and `**kwargs`. They are the first
/// slots.
int argument_slots(PyCodeObject* code) noexcept;

/// Whether the code has no `*args`, `**kwargs` or keyword-only parameters.
inline bool has_only_positional_slots(PyCodeObject* code) noexcept {
    return argument_slots(code) == code->co_argcount;
}

/// Whether both codes have the same positional parameters, by name, and no others. A
/// call then binds to both in the same way, except for defaults.
bool same_parameters(PyCodeObject* a, PyCodeObject* b) noexcept;

/// Empty if the locals of `replacement` with these names (a tuple) can be bound before
/// it starts; `slots` receives their slot numbers. Arguments and free variables cannot
/// be bound.
std::string captures_problem(PyCodeObject* replacement, PyObject* names,
                             std::vector<uint16_t>& slots);

/// Whether frames of `original` can become frames of `replacement` in place, as far as
/// the code objects are concerned. An entry with captured values does not run
/// otherwise.
bool may_fit_in_place(PyCodeObject* original, PyCodeObject* replacement) noexcept;

/// Whether call_replacement runs the entry's code with the builtins of `frame`. CPython
/// reads the builtins of a class body or module from its globals, which may have
/// changed. Functions have their own.
bool may_be_called(const _PyInterpreterFrame* frame, PyCodeObject* original) noexcept;

/// The fall-back. Calls `replacement` as a function with the frame's arguments, clears
/// the frame, and returns the result of the call (null with an exception set).
/// Profilers and tracers see one function call, as in place. About 100 ns.
PyObject* call_replacement(PyThreadState* thread, _PyInterpreterFrame* frame,
                           PyCodeObject* original, PyCodeObject* replacement);

/// Tests use this to run every replacement as a call.
[[gnu::visibility("hidden")]] extern bool always_call;

}  // namespace guardtree
