// TableEntry: an entry of a Table or of a guarded function, for Python.
// SPDX-License-Identifier: MIT
#pragma once
#include "../guards/lookup/table.h"

#include "boxed.h"

namespace guardtree {

/// Keeps the entry, which may be out of its table by then.
struct TableEntryHandle {
    int traverse(visitproc visit, void* arg) const {
        Py_VISIT(entry->object());
        return 0;
    }

    Shared<Entry> entry;
};

}  // namespace guardtree

GUARDTREE_BOXED(guardtree::TableEntryHandle, "TableEntry")
