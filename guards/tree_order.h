// In which order a tree's nodes and checks are laid out, and which are left out.
// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "program.h"

namespace guardtree {

/// Without counts: the order in which they were made. With counts: what failed more
/// often first, but nothing moves across a node or check that may run user code.
class TreeOrder {
public:
    TreeOrder(const Tree& tree, const FailureCounts* counts,
              std::span<const NodeId> bound = {});

    /// The node or a descendant has a check, or is related to others.
    bool is_useful(NodeId node) const { return useful_[node]; }

    /// A relation reads the node's value.
    bool is_related(NodeId node) const { return related_[node]; }

    /// The node's value is handed over when the guards have passed.
    bool is_bound(NodeId node) const { return has_bound_ && bound_[node]; }

    bool has_bound() const { return has_bound_; }

    std::vector<NodeId> children(NodeId node) const;

    std::vector<CheckId> checks(NodeId node) const;

private:
    bool calls_python(const Op& op) const noexcept { return op.info().calls_python; }

    const Tree& tree_;
    const FailureCounts* counts_;
    std::vector<bool> useful_;
    std::vector<bool> related_;
    bool has_bound_;
    std::vector<bool> bound_;         ///< empty where none is
    std::vector<bool> pure_;          ///< no op at or below the node runs user code
    std::vector<uint64_t> failures_;  ///< at and below the node
};

}  // namespace guardtree
