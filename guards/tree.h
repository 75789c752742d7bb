// The guard tree: paths with kinds on them. A plain description; programs are made of
// it.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

#include <tsl/robin_map.h>

#include "op.h"

namespace guardtree {

/// Index of a node in its tree. Node 0 is the view itself; its children are roots.
using NodeId = uint32_t;

/// A value that guards talk about: how it is fetched from its parent, what is checked.
struct Node {
    Op step;  ///< meaningless in node 0
    NodeId parent = 0;
    std::vector<NodeId> children;
    std::vector<Op> checks;
};

/// Copyable: a copy is the snapshot that is compiled. Owns what its ops refer to.
/// Building is O(1) per path and check; equal paths give the same node, equal checks
/// are kept once.
class Tree {
public:
    Tree();

    /// The child of `parent` that `step` fetches, made when it is not there. Root steps
    /// belong under node 0, others under any other node: Diagnostic otherwise.
    bool child(NodeId parent, const Op& step, NodeId& to, Diagnostic& problem);

    /// Adds a check to a node. Diagnostic for node 0, which is no value.
    bool check(NodeId node, const Op& kind, Diagnostic& problem);

    /// What operands refer to lives here; read_operands adds to it.
    References& references() noexcept { return references_; }

    const References& references() const noexcept { return references_; }

    const std::vector<Node>& nodes() const noexcept { return nodes_; }

    /// The node as a Python expression: "cfg.training".
    std::string path_text(NodeId node) const;

    /// One line per check: path, check, the same in Python. Ends in a newline.
    std::string text() const;

    /// Forgets everything; for the garbage collector.
    void clear();

private:
    struct Edge {
        NodeId parent;
        Op step;
    };

    struct EdgeHash {
        size_t operator()(const Edge& edge) const noexcept {
            return hash_op(edge.step) ^ (edge.parent * 0x9E3779B97F4A7C15u);
        }
    };

    struct EdgeEqual {
        bool operator()(const Edge& a, const Edge& b) const noexcept {
            return a.parent == b.parent && same_op(a.step, b.step);
        }
    };

    std::vector<Node> nodes_;
    References references_;
    tsl::robin_map<Edge, NodeId, EdgeHash, EdgeEqual> edges_;
};

}  // namespace guardtree
