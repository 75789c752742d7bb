// The callback of each thread, and the evaluator that is installed while one has any.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../framelocals/ref.h"
#include "../guards/run/hook_thread.h"

namespace guardtree {

/// The object that stands for "hits run, misses raise" among callbacks: set once by who
/// knows its Python name, borrowed.
void set_raise_on_miss(PyObject* constant) noexcept;

/// Makes `callback` (None, False, raise_on_miss or a callable) this thread's, installs
/// or removes the evaluator as the number of threads with a callback demands, and
/// returns the prior callback. Null with an exception set (TypeError for anything
/// else). RuntimeWarning, once, where another evaluator took the place of ours. Needs
/// the GIL.
Owned<> set_callback(PyObject* callback) noexcept;

/// This thread's callback: None, False or a callable.
Owned<> current_callback() noexcept;

/// True while our evaluator is the interpreter's.
bool is_hook_installed() noexcept;

/// Number of threads whose callback is not None.
int hooked_threads() noexcept;

/// Takes the evaluator out for good and forgets all entries: at interpreter exit.
void shut_down() noexcept;

}  // namespace guardtree
