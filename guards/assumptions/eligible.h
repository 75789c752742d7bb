// Which parts of a tree an assumption can speak for.
// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <vector>

#include "../tree/order.h"

namespace guardtree {

/// Siblings that one assumption may speak for.
struct AssumedRun {
    size_t end;  ///< behind the last one
    bool pays;   ///< else none of them begins a run that does
};

/// Subtrees that run no user code, and that begin at globals, builtins or modules, or
/// go through dicts from a local or from a value that the walk has fetched.
class Eligible {
public:
    /// O(nodes).
    Eligible(const Tree& tree, const TreeOrder& order);

    /// What one assumption can speak for from `first` on: roots that begin at names, or
    /// one local.
    AssumedRun roots_from(std::span<const NodeId> roots, size_t first) const;

    /// The same of the children of one node, which lies in no run itself.
    AssumedRun children_from(std::span<const NodeId> children, size_t first) const;

private:
    bool is_assumable(NodeId node) const { return is_pure_[node] && is_useful_[node]; }

    const Tree& tree_;
    std::vector<bool> is_pure_;
    std::vector<uint32_t> lookups_;  ///< steps at and below a node that read dicts
    std::vector<bool> is_useful_;
};

}  // namespace guardtree
