// Saves the pending exception and restores it, with one interface for all versions.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "ref.h"

namespace guardtree {

/// Takes the pending exception with its traceback, so that none is pending. Null if
/// there is none.
Owned<> take_exception() noexcept;

/// Makes `exception` the pending one. Does nothing if it is null.
void raise_taken(Owned<> exception) noexcept;

/// Whether the pending exception must reach the program, even if a guard raised it:
/// KeyboardInterrupt, SystemExit and others that are not an Exception, and MemoryError.
bool must_propagate() noexcept;

/// Saves a pending exception during code that may raise, and restores it.
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
