// A view that owns its values, so it may be on the heap and outlive its frame.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <memory>

#include "view.h"

namespace guardtree {

/// A copy of a view of a frame before its first instruction. For `Frame` objects that
/// are passed to user code: another thread or greenlet may use one after the frame has
/// started to run, or while the C stack with the first view is saved elsewhere.
class KeptView : public View, public Counted {
public:
    /// Null with MemoryError set.
    static Shared<KeptView> of(const View& frame) noexcept;

    ~KeptView();

private:
    KeptView(const View& frame, std::unique_ptr<SlotWord[]> words) noexcept;

    std::unique_ptr<SlotWord[]> words_;  ///< strong references, or null
    Owned<PyCodeObject> kept_code_;
    Owned<> globals_;
    Owned<> builtins_;
    Owned<> function_;  ///< keeps the closure alive
    Owned<> namespace_;
    Scope kept_scope_;
};

}  // namespace guardtree
