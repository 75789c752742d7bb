// The guard tree: a description of paths with kinds on them, from which programs are
// compiled.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include <tsl/robin_set.h>

#include "../ops/op.h"

namespace guardtree {

/// Index of a node in its tree. Node 0 is the view itself, and its children are roots.
using NodeId = uint32_t;

/// Index of a check or of a relation in its tree, in the order in which they were
/// added.
using CheckId = uint32_t;

inline constexpr uint32_t no_id = UINT32_MAX;

/// A value that guards refer to: the step that fetches it from its parent, and its
/// checks. Children and checks are circular lists through the tree's arrays. A node
/// stores the last element of each list. A node takes 48 bytes and a check 40; neither
/// allocates memory of its own.
struct Node {
    Op step;  ///< meaningless in node 0
    NodeId parent = 0;
    NodeId next = no_id;  ///< the next sibling; after the last comes the first
    NodeId last_child = no_id;
    CheckId last_check = no_id;
};

/// A kind on a node, and the user's note on it.
struct Check {
    Op kind;
    CheckId next = no_id;  ///< the node's next check; after the last comes the first
    uint32_t note = no_id;
};

/// A relation over nodes.
struct RelationCheck {
    Op relation;
    std::vector<NodeId> nodes;
    uint32_t note = no_id;
};

/// Copyable: a copy is an independent snapshot. A tree owns the objects that its ops
/// refer to. Building takes O(1) per path and check. Equal paths give the same node.
/// Equal checks are stored once; different checks of a node must all pass.
class Tree {
public:
    Tree();

    /// Finds or makes the child of `parent` that `step` fetches. Root steps belong
    /// under node 0, other steps under any other node. Otherwise the call is refused.
    bool child(NodeId parent, const Op& step, NodeId& to, Diagnostic& problem);

    /// Adds a check to a node. Refused for node 0, which is not a value. If `to` is
    /// given, it receives the id of the check, or of an equal check that the node
    /// already has.
    bool check(NodeId node, const Op& kind, Diagnostic& problem, CheckId* to = nullptr);

    /// Adds a relation over values. Refused if the relation does not accept that many.
    bool relate(const Op& relation, std::span<const NodeId> nodes, Diagnostic& problem,
                CheckId* to = nullptr);

    /// Reserves memory for steps and references that are about to be added. Adding n of
    /// them in many small parts stays O(n).
    void make_room(size_t steps, size_t references);

    /// Stores the user's note on a check (`note`: any object) for explanations.
    void annotate_check(CheckId check, Owned<> note);
    void annotate_relation(CheckId relation, Owned<> note);

    /// The note, or null.
    PyObject* note(uint32_t id) const noexcept {
        return id == no_id ? nullptr : notes_[id];
    }

    /// The objects that operands and notes refer to. read_operands adds to it.
    References& references() noexcept { return references_; }

    const References& references() const noexcept { return references_; }

    const Node& node(NodeId id) const noexcept { return nodes_[id]; }

    const Check& check_at(CheckId id) const noexcept { return checks_[id]; }

    size_t node_count() const noexcept { return nodes_.size(); }

    size_t check_count() const noexcept { return checks_.size(); }

    const std::vector<RelationCheck>& relations() const noexcept { return relations_; }

    /// Calls `visit` with each child of a node, in the order they were made.
    template <class Visitor>
    void each_child(NodeId id, Visitor visit) const {
        const NodeId last = nodes_[id].last_child;
        if (last == no_id) return;
        for (NodeId at = nodes_[last].next;; at = nodes_[at].next) {
            visit(at);
            if (at == last) return;
        }
    }

    /// Calls `visit` with each check of a node, in the order they were added.
    template <class Visitor>
    void each_check(NodeId id, Visitor visit) const {
        const CheckId last = nodes_[id].last_check;
        if (last == no_id) return;
        for (CheckId at = checks_[last].next;; at = checks_[at].next) {
            visit(at);
            if (at == last) return;
        }
    }

    /// The node as a Python expression: "cfg.training".
    std::string path_text(NodeId node) const;

    /// The relation as a Python expression over its paths.
    std::string relation_text(CheckId relation) const;

    /// One line per check: path, check, and the same in Python. The checks in `assumed`
    /// (ascending) are marked. Ends with a newline.
    std::string text(std::span<const CheckId> assumed = {}) const;

    /// Removes everything, for the garbage collector.
    void clear();

private:
    /// An element of the set of edges: a node, with the hash of its parent and step.
    struct Slot {
        uint32_t hash;
        NodeId node;
    };

    struct Wanted {
        uint32_t hash;
        NodeId parent;
        const Op* step;
        const std::deque<Node>* nodes;
    };

    struct SlotHash {
        template <class T>
        size_t operator()(const T& slot) const noexcept {
            return slot.hash;
        }
    };

    struct SlotEqual {
        using is_transparent = void;

        bool operator()(Slot a, Slot b) const noexcept { return a.node == b.node; }

        bool operator()(Slot a, const Wanted& b) const noexcept {
            return (*this)(b, a);
        }

        bool operator()(const Wanted& a, Slot b) const noexcept {
            const Node& node = (*a.nodes)[b.node];
            return a.hash == b.hash && node.parent == a.parent &&
                   same_op(node.step, *a.step);
        }
    };

    /// A check of a node that has many checks.
    struct Mark {
        uint32_t hash;
        NodeId node;
        CheckId check;
    };

    struct WantedMark {
        uint32_t hash;
        NodeId node;
        const Op* kind;
        const std::deque<Check>* checks;
    };

    struct MarkEqual {
        using is_transparent = void;

        bool operator()(Mark a, Mark b) const noexcept { return a.check == b.check; }

        bool operator()(Mark a, const WantedMark& b) const noexcept {
            return (*this)(b, a);
        }

        bool operator()(const WantedMark& a, Mark b) const noexcept {
            return a.hash == b.hash && a.node == b.node &&
                   same_op((*a.checks)[b.check].kind, *a.kind);
        }
    };

    /// The check of the node that equals `kind`, or no_id if there is none.
    CheckId find_check(NodeId node, const Op& kind);

    uint32_t keep_note(Owned<> note);

    // Deques, because they do not copy their elements when they grow.
    std::deque<Node> nodes_;
    std::deque<Check> checks_;
    std::vector<RelationCheck> relations_;
    References references_;
    std::vector<PyObject*> notes_;  ///< kept alive by references_
    tsl::robin_set<Slot, SlotHash, SlotEqual> edges_;
    tsl::robin_set<Mark, SlotHash, MarkEqual> marks_;  ///< of nodes with many checks
};

}  // namespace guardtree
