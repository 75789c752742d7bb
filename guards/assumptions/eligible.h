// Which parts of a tree an assumption can speak for.
// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <vector>

#include "../tree/order.h"

namespace guardtree {

/// Subtrees that run no user code, whose values nobody else reads, and that begin at
/// globals, builtins or modules, or go from a local through dicts.
class Eligible {
public:
    /// O(nodes).
    Eligible(const Tree& tree, const TreeOrder& order);

    /// The end of the run of roots from `first` on that one assumption can speak for;
    /// `first` where there is none.
    size_t run_from(std::span<const NodeId> roots, size_t first) const;

private:
    const Tree& tree_;
    std::vector<bool> is_pure_;
    std::vector<uint32_t> lookups_;  ///< steps at and below a node that read dicts
    std::vector<bool> is_useful_;
};

}  // namespace guardtree
