// The PEP 523 evaluator: looks a frame's code up and runs the entry's code in the frame.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "code_cache.h"

struct _PyInterpreterFrame;

namespace guardtree {

/// What a callback decided about a frame without a hit.
struct MissOutcome {
    enum Action { run_plain, skip_code, run_entry, raise } action = run_plain;
    Shared<Entry> entry;  ///< with run_entry: added to the code's cache and run
};

/// Asks a thread's callback about a frame; set by the layer that knows the callback's
/// Python types. With `raise` an exception is set. The hook is paused meanwhile.
using MissHandler = MissOutcome (*)(PyObject* callback, const View& view,
                                    CodeCache& cache);
void set_miss_handler(MissHandler handler) noexcept;

/// The evaluator. Costs a frame of a thread without a callback one thread-local load.
/// Pass-through is a tail call: no C stack of its own.
PyObject* evaluate_frame(PyThreadState* thread, _PyInterpreterFrame* frame, int throwing);

/// The evaluator that frames are handed on to; null: CPython's own.
using Evaluator = PyObject* (*)(PyThreadState*, _PyInterpreterFrame*, int);
Evaluator previous_evaluator() noexcept;
void set_previous_evaluator(Evaluator evaluator) noexcept;

}  // namespace guardtree
