// TableEntry: an entry of a Table or of a guarded function, as a Python type.
// SPDX-License-Identifier: MIT
#pragma once
#include "../guards/lookup/table.h"

#include "boxed.h"

namespace guardtree {

/// Keeps the entry alive, even if it was removed from its table.
struct TableEntryHandle {
    int traverse(visitproc visit, void* arg) const {
        Py_VISIT(entry->object());
        Py_VISIT(target.get());
        return 0;
    }

    PyObject* payload() const noexcept {
        return target ? target.get() : entry->payload.get();
    }

    Shared<Entry> entry;
    /// What the entry's own payload calls, for functions that are guarded through the
    /// hook.
    Owned<> target{};
};

}  // namespace guardtree

GUARDTREE_BOXED(guardtree::TableEntryHandle, "TableEntry")
