// Makes smaller trees with the same verdicts.
// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "tree.h"

namespace guardtree {

/// The findings of simplified(), one sentence each.
struct Simplification {
    std::vector<std::string> removed;  ///< "type(x) is int: follows from x == 3"
    /// Guards that exclude each other. A tree that has such guards never passes.
    std::vector<std::string> contradictions;
};

/// Returns a tree with the same verdict on every value. It leaves out checks that
/// others imply (an equal constant implies its type, length and range; a tensor's shape
/// implies its rank) and relations that always hold. It merges several ranges into one.
/// A check is removed only if no user code runs between it and the check that implies
/// it. Contradictions stay in the tree. Nodes and checks are numbered from scratch. The
/// result keeps the same objects alive as `tree`. O(n), quadratic in the checks of one
/// node. Needs the GIL.
Tree simplified(const Tree& tree, Simplification& found);

}  // namespace guardtree
