// Smaller trees with the same answers.
// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "tree.h"

namespace guardtree {

/// What simplified() found, a sentence each.
struct Simplification {
    std::vector<std::string> removed;  ///< "type(x) is int: x == 3 says so"
    /// Guards that exclude each other: a tree that has one never passes.
    std::vector<std::string> contradictions;
};

/// A tree with the same verdict on every value: without checks that others imply (an
/// equal constant implies its type, length, range; a tensor's shape its rank), with one
/// range for several, without relations that hold by themselves. A check goes only
/// where no user code runs between it and the one that implies it. Contradictions stay
/// as they are. Numbers of nodes and checks are the new tree's own; it keeps alive what
/// `tree` does. O(n), quadratic in the checks of one node. Needs the GIL.
Tree simplified(const Tree& tree, Simplification& found);

}  // namespace guardtree
