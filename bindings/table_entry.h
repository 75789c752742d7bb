// TableEntry: an entry of a Table or of a guarded function, for Python.
// SPDX-License-Identifier: MIT
#pragma once
#include "../guards/table.h"

namespace guardtree {

/// Keeps the entry, which may be out of its table by then.
struct TableEntryHandle {
    Shared<Entry> entry;
};

}  // namespace guardtree
