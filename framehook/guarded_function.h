// A function whose calls are guarded where they arrive, at its vectorcall slot: no
// frame exists yet, and every other function runs as if we were not there.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <vector>
#include "../guards/lookup/table.h"

#include "guarded_calls.h"

namespace guardtree {

/// The entries of one function. A call is looked up by its arguments, bound as the
/// function binds them; a hit calls the entry's payload, any callable, with the call's
/// own arguments, a miss the function, or who is asked. Guards run user code with all
/// guarding off in their thread, as the hook's do.
///
/// Holds its function weakly: whoever keeps this in the function's `__dict__` makes it
/// live as long as the function, and every cycle through entries the collector's.
/// Needs the GIL.
class GuardedFunction : public GuardedCalls {
public:
    /// Takes the calls of `function` over. Null with an exception set: NotImplemented-
    /// Error on CPython 3.11, ValueError for a function that others have taken over,
    /// or an `__init__` whose calls do not all arrive.
    static Shared<GuardedFunction> take(PyFunctionObject* function);

    /// restore()s what is still guarded.
    ~GuardedFunction() override;

    /// What guards the calls of `function`, or null.
    static GuardedFunction* find(PyFunctionObject* function) noexcept;

    /// Every function is on its own again: at interpreter exit.
    static void release_all() noexcept;

    /// Forgets all entries and gives the slot back. False where somebody has put their
    /// own entry above ours since: ours stays below it and passes calls on.
    bool restore() noexcept;

    /// Calls a function that was taken, past its guards.
    static PyObject* call_plain(PyObject* function, PyObject* const* arguments,
                                size_t count, PyObject* keywords);

private:
    using GuardedCalls::GuardedCalls;

    static PyObject* call(PyObject* function, PyObject* const* arguments, size_t count,
                          PyObject* keywords);
};

}  // namespace guardtree
