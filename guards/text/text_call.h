// Keeps exceptions that user code raises while an object is converted to text, and that
// must not be lost.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// The scope of a call whose messages and reports show objects by their repr. If a repr
/// raises an Exception, it is left out of the text. KeyboardInterrupt, SystemExit,
/// GreenletExit and the like are raised instead of the call's result: the first one is
/// kept, and the rest of the text is produced without user code. Outside such a scope
/// they are dropped, and KeyboardInterrupt is raised when CPython next checks for
/// signals.
class TextCall {
public:
    TextCall() noexcept { ++open; }

    ~TextCall() { --open; }

    TextCall(const TextCall&) = delete;
    TextCall& operator=(const TextCall&) = delete;

    /// Makes the kept exception the pending one, replacing another. False if there is
    /// none.
    bool raise_kept() const noexcept;

    /// Whether an exception is kept, so that the text is not needed any more.
    static bool has_kept() noexcept { return kept != nullptr; }

    /// Drops or keeps the pending exception, if there is one. Throws std::bad_alloc for
    /// MemoryError.
    static void drop_exception();

private:
    // A count, because the calls of greenlets may end in any order.
    static thread_local unsigned open;
    static thread_local PyObject* kept;
};

}  // namespace guardtree
