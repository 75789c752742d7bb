// The order in which a tree's nodes and checks are laid out, and which are left out.
// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "failure_counts.h"
#include "tree.h"

namespace guardtree {

/// Siblings, or checks of one node, that are not in fail-first order.
struct KeptInOrder {
    std::string moved;   ///< the guard that failed more often, in Python
    uint64_t failures;   ///< failures of that guard
    std::string behind;  ///< the guard that failed less often but comes first
    std::string reason;  ///< "attr(x.a) may run user code"
};

/// Without counts, this is the order in which nodes and checks were made. With counts,
/// those that failed more often come first, but nothing moves across a node or check
/// that may run user code or raise. `attr` and `item` do neither if the guards before
/// them prove that the value has a builtin type.
class TreeOrder {
public:
    TreeOrder(const Tree& tree, const FailureCounts* counts,
              std::span<const NodeId> captured = {});

    /// Whether the node or a descendant has a check or is used by a relation.
    bool is_useful(NodeId node) const { return useful_[node]; }

    /// Whether a relation reads the node's value.
    bool is_related(NodeId node) const { return related_[node]; }

    /// Whether the node's value is handed to the caller after the guards pass.
    bool is_captured(NodeId node) const { return has_captured_ && captured_[node]; }

    bool has_captured() const { return has_captured_; }

    std::vector<NodeId> children(NodeId node) const;

    std::vector<CheckId> checks(NodeId node) const;

    /// The guards that fail more often than a guard before them, and why they stay in
    /// place.
    std::vector<KeptInOrder> kept() const;

private:
    bool is_pure_step(NodeId node) const;
    std::string impure_text(NodeId node) const;

    template <class Id, class IsPure, class Count, class Text>
    void add_kept(const std::vector<Id>& ids, IsPure is_pure, Count count, Text text,
                  std::vector<KeptInOrder>& to) const;

    const Tree& tree_;
    const FailureCounts* counts_;
    std::vector<bool> useful_;
    std::vector<bool> related_;
    bool has_captured_;
    std::vector<bool> captured_;      ///< empty if no node is captured
    std::vector<bool> pure_;          ///< no op at or below the node runs user code
    std::vector<uint64_t> failures_;  ///< at and below the node
};

}  // namespace guardtree
