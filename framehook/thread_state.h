// The callback of each thread, and the evaluator, which is installed while a thread has
// one.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../framelocals/ref.h"
#include "../guards/run/hook_thread.h"

namespace guardtree {

/// Sets the object that means "hits run, misses raise" as a callback. Called once by
/// the layer that defines its Python name. Borrowed.
void set_raise_on_miss(PyObject* constant) noexcept;

/// Sets this thread's callback (None, False, raise_on_miss or a callable), installs or
/// removes the evaluator depending on the number of threads with a callback, and
/// returns the previous callback. Null with an exception set (TypeError for other
/// objects). Issues one RuntimeWarning if another evaluator replaced ours. Needs the
/// GIL.
Owned<> set_callback(PyObject* callback) noexcept;

/// This thread's callback: None, False or a callable.
Owned<> current_callback() noexcept;

/// Whether our evaluator is the interpreter's current one.
bool is_hook_installed() noexcept;

/// The number of threads whose callback is not None.
int hooked_threads() noexcept;

/// Removes the evaluator for good and clears all entries, at interpreter exit.
void shut_down() noexcept;

}  // namespace guardtree
