// Finds the facts in which entries differ, for a compiler that may generalise.
// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "table.h"

namespace guardtree {

/// A fact on which the entries of a table do not agree.
struct Difference {
    std::string fact;  ///< in Python: "type(x)", "x.shape[0]", "len(items)"
    /// The value that each entry requires, in order: "8". Empty if an entry does not
    /// check it.
    std::vector<std::string> demands;
};

/// The facts in which entries differ, in the order of their first check. Leaves out
/// facts for which all entries require the same. Slow: O(entries * guards).
std::vector<Difference> differences(const Table& table);

}  // namespace guardtree
