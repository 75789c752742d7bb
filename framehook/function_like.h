// Creates functions that stand for a function of the program, with other code.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../framelocals/ref.h"

struct _PyInterpreterFrame;

namespace guardtree {

/// Creates a function that runs `code` like a call of `original`: with its globals, its
/// builtins (which may no longer be in the globals), its closure if the code has free
/// variables, and its names, which generators take over. It has no defaults. Null with
/// an exception set.
Owned<> function_like(PyFunctionObject* original, PyCodeObject* code) noexcept;

/// Whether `made` has the current names of `original`. The program may rename
/// functions.
bool has_names_of(const PyFunctionObject* made,
                  const PyFunctionObject* original) noexcept;

/// Sets the names of `made` to those of `original`. May run user code, because a name
/// may be an instance of a str subclass.
void take_names(PyFunctionObject* made, const PyFunctionObject* original);

/// Gives `frame` a new function whose code is the frame's code. False with MemoryError
/// set. May run user code.
bool give_own_function(_PyInterpreterFrame* frame);

}  // namespace guardtree
