// The PEP 523 evaluator: looks a frame's code up and runs the entry's code in the
// frame.
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

/// What callbacks are given and what their answers mean: set by the layer that knows
/// their Python types. The hook calls the callback itself, so that no foreign C++ frame
/// is on the stack meanwhile. What runs other user code is not noexcept: a daemon
/// thread that ends there at exit is unwound.
struct CallbackProtocol {
    /// True for frames of that layer's own code, which no callback is asked about.
    bool (*is_own)(const View& view) = nullptr;
    /// The tuple of arguments for a frame; null with an exception set.
    Owned<> (*arguments)(const View& view, CodeCache& cache) = nullptr;
    /// The callback is over, however it ended: the frame among `arguments` closes.
    void (*close)(PyObject* arguments) noexcept = nullptr;
    /// The meaning of an answer; with `raise` an exception is set.
    MissOutcome (*interpret)(PyObject* answer, const View& view) = nullptr;
    /// Sets the exception of a miss where misses are to raise.
    void (*raise_miss)(const View& view, const CodeCache& cache) = nullptr;
    /// Told of a miss of a code that has entries, and of each entry that is made, while
    /// somebody wants to know; else null. No exception is left pending.
    void (*note_miss)(const View& view) = nullptr;
    void (*note_entry)(PyCodeObject* code, const CodeCache& cache) = nullptr;
    /// In strict mode: false with an exception set where a look-up's answer (null: no
    /// entry) is not what others say. Else null.
    bool (*is_right_answer)(const View& view, const Table& table,
                            const Entry* found) = nullptr;
};

void set_callback_protocol(const CallbackProtocol& protocol) noexcept;

namespace hook_detail {
extern CallbackProtocol protocol;
}

inline const CallbackProtocol& callback_protocol() noexcept {
    return hook_detail::protocol;
}

/// Adds an entry to a code's cache, and tells of it. Where the entry's code is this
/// code, the entry refers to it weakly from here on. False with an exception set.
[[nodiscard]] bool add_entry(PyCodeObject* code, CodeCache& cache, Shared<Entry> entry);

/// The evaluator. Costs a frame of a thread without a callback one thread-local load.
/// Pass-through is a tail call: no C stack of its own.
PyObject* evaluate_frame(PyThreadState* thread, _PyInterpreterFrame* frame,
                         int throwing);

/// The evaluator that frames are handed on to; null: CPython's own.
using Evaluator = PyObject* (*)(PyThreadState*, _PyInterpreterFrame*, int);
Evaluator previous_evaluator() noexcept;
void set_previous_evaluator(Evaluator evaluator) noexcept;

}  // namespace guardtree
