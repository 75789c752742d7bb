// The PEP 523 evaluator: looks a frame's code up and runs the entry's code in the
// frame.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "code_cache.h"

struct _PyInterpreterFrame;

namespace guardtree {

/// A callback's decision about a frame without a hit.
struct MissOutcome {
    enum Action { run_plain, skip_code, run_entry, raise } action = run_plain;

    Shared<Entry> entry;  ///< with run_entry: is added to the code's cache and runs
};

/// The arguments of callbacks and the meaning of their results. The layer that knows
/// the Python types sets this. The hook calls the callback itself, so that no foreign
/// C++ frame is on the stack during the call. Functions that run other user code are
/// not noexcept, because a daemon thread that ends there at exit is unwound.
struct CallbackProtocol {
    /// True for frames of that layer's own code. The callback is never called for
    /// these.
    bool (*is_own)(const View& view) = nullptr;
    /// The tuple of arguments for a frame. Null with an exception set.
    Owned<> (*arguments)(const View& view, CodeCache& cache) = nullptr;
    /// Called when the callback has returned or raised. Closes the frame in
    /// `arguments`.
    void (*close)(PyObject* arguments) noexcept = nullptr;
    /// Converts the callback's result. With `raise`, an exception is set.
    MissOutcome (*interpret)(PyObject* answer, const View& view) = nullptr;
    /// Sets the exception for a miss, if misses raise.
    void (*raise_miss)(const View& view, const CodeCache& cache) = nullptr;
    /// Called on a miss of a code object that has entries, and for each new entry. Null
    /// when nobody listens. They leave no exception pending.
    void (*note_miss)(const View& view) = nullptr;
    void (*note_entry)(PyCodeObject* code, const CodeCache& cache) = nullptr;
    /// In strict mode: returns false, with an exception set, if the result of a look-up
    /// (null: no entry) differs from that of the reference evaluations. Otherwise null.
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

/// Adds an entry to a code object's cache, and calls note_entry. If the entry's code is
/// this same code object, the entry's reference becomes weak. False with an exception
/// set.
[[nodiscard]] bool add_entry(PyCodeObject* code, CodeCache& cache, Shared<Entry> entry);

/// The evaluator. For a thread without a callback it takes one thread-local load. It
/// passes a frame on by a tail call, which needs no C stack.
PyObject* evaluate_frame(PyThreadState* thread, _PyInterpreterFrame* frame,
                         int throwing);

/// The evaluator that frames are passed on to. Null means CPython's own.
using Evaluator = PyObject* (*)(PyThreadState*, _PyInterpreterFrame*, int);
Evaluator previous_evaluator() noexcept;
void set_previous_evaluator(Evaluator evaluator) noexcept;

}  // namespace guardtree
