// Functions of ours that stand for a program's function, with other code.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../framelocals/ref.h"

struct _PyInterpreterFrame;

namespace guardtree {

/// A new function that runs `code` as a call of `original` would: with its globals,
/// its builtins (which its globals may no longer have), its closure, where the code has
/// free variables, and its names, which generators get. It has no defaults. Null with
/// an exception set.
Owned<> function_like(PyFunctionObject* original, PyCodeObject* code) noexcept;

/// Whether `made` has the names of `original`, which the program may rename.
bool has_names_of(const PyFunctionObject* made,
                  const PyFunctionObject* original) noexcept;

/// Gives `made` the names of `original`. May run user code: a name may be of a str's
/// subclass.
void take_names(PyFunctionObject* made, const PyFunctionObject* original);

/// Gives `frame` a function of its own that has the code which the frame runs. False
/// with MemoryError set. May run user code.
bool give_own_function(_PyInterpreterFrame* frame);

}  // namespace guardtree
