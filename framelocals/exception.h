// Taking the pending exception away and putting it back, the same way on every version.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "ref.h"

namespace guardtree {

/// The pending exception with its traceback, no longer pending; null when there is
/// none.
Owned<> take_exception() noexcept;

/// Makes `exception` the pending one; nothing when it is null.
void raise_taken(Owned<> exception) noexcept;

/// True when the pending exception must reach the program whatever a guard is about:
/// KeyboardInterrupt, SystemExit and the like (not an Exception), and MemoryError.
bool must_propagate() noexcept;

/// Keeps a pending exception out of the way of code that may raise, and puts it back.
class ExceptionPause {
public:
    ExceptionPause() noexcept : exception_(take_exception()) {}

    ~ExceptionPause() { raise_taken(std::move(exception_)); }

    ExceptionPause(const ExceptionPause&) = delete;
    ExceptionPause& operator=(const ExceptionPause&) = delete;

private:
    Owned<> exception_;
};

}  // namespace guardtree
