// A view that holds what it shows: it may lie on the heap and outlive its frame.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <memory>

#include "view.h"

namespace guardtree {

/// A frame before its first instruction, as another view shows it. For windows that are
/// handed to user code: another thread or greenlet may look through one while the frame
/// runs already, or while the C stack with the first view lies elsewhere.
class KeptView : public View, public Counted {
public:
    /// Null with MemoryError set.
    static Shared<KeptView> of(const View& frame) noexcept;

    ~KeptView();

private:
    KeptView(const View& frame, std::unique_ptr<SlotWord[]> words) noexcept;

    std::unique_ptr<SlotWord[]> words_;  ///< references, or null
    Owned<PyCodeObject> kept_code_;
    Owned<> globals_;
    Owned<> builtins_;
    Owned<> function_;  ///< which has the closure
    Owned<> namespace_;
    Scope kept_scope_;
};

}  // namespace guardtree
