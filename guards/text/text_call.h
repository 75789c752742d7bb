// What user code raises while a text is made of an object, and must not be lost.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// A call whose messages and reports show objects by their reprs. A repr that raises an
/// Exception is left out of the text. KeyboardInterrupt, SystemExit, GreenletExit and
/// the like are raised in place of what the call returns: the first one is kept, and
/// texts run no user code until then. Outside of such calls they are dropped, and
/// KeyboardInterrupt comes when CPython next looks for signals.
class TextCall {
public:
    TextCall() noexcept { ++open; }

    ~TextCall() { --open; }

    TextCall(const TextCall&) = delete;
    TextCall& operator=(const TextCall&) = delete;

    /// Makes what was kept the pending exception, in place of another. False where
    /// there is none.
    bool raise_kept() const noexcept;

    /// Whether one is kept: there is no need for the text.
    static bool has_kept() noexcept { return kept != nullptr; }

    /// Drops the pending exception, if there is one, or keeps it. MemoryError becomes
    /// std::bad_alloc.
    static void drop_exception();

private:
    // No matter in which order calls of greenlets end.
    static thread_local unsigned open;
    static thread_local PyObject* kept;
};

}  // namespace guardtree
