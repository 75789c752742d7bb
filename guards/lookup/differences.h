// What entries differ in: for a caller's compiler, which may generalise.
// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "table.h"

namespace guardtree {

/// A fact that the entries of a table do not agree on.
struct Difference {
    std::string fact;  ///< in Python: "type(x)", "x.shape[0]", "len(items)"
    /// What each entry demands of it, in order: "8"; empty where it demands nothing.
    std::vector<std::string> demands;
};

/// The facts that entries differ in, in the order in which they are met. A fact that
/// all demand alike is left out. Cold: O(entries * guards).
std::vector<Difference> differences(const Table& table);

}  // namespace guardtree
