// The guard tree: paths with kinds on them. A plain description; programs are made of
// it.
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

/// Index of a node in its tree. Node 0 is the view itself; its children are roots.
using NodeId = uint32_t;

/// Index of a check, or of a relation, in its tree: in the order they were added.
using CheckId = uint32_t;

inline constexpr uint32_t no_id = UINT32_MAX;

/// A value that guards talk about: how it is fetched from its parent, what is checked.
/// Children and checks are circular lists through the tree's arrays, kept by their last
/// elements: 48 bytes a node, 40 a check, no allocation of their own.
struct Node {
    Op step;  ///< meaningless in node 0
    NodeId parent = 0;
    NodeId next = no_id;  ///< the sibling after this one, the first after the last
    NodeId last_child = no_id;
    CheckId last_check = no_id;
};

/// A kind on a node, and what its user said about it.
struct Check {
    Op kind;
    CheckId next = no_id;  ///< the node's next check, the first after the last
    uint32_t note = no_id;
};

/// A relation over nodes.
struct RelationCheck {
    Op relation;
    std::vector<NodeId> nodes;
    uint32_t note = no_id;
};

/// Copyable: a copy is the snapshot that is compiled. Owns what its ops refer to.
/// Building is O(1) per path and check; equal paths give the same node, equal checks
/// are kept once, checks that differ are a conjunction.
class Tree {
public:
    Tree();

    /// The child of `parent` that `step` fetches, made when it is not there. Root steps
    /// belong under node 0, others under any other node: Diagnostic otherwise.
    bool child(NodeId parent, const Op& step, NodeId& to, Diagnostic& problem);

    /// Adds a check to a node. Diagnostic for node 0, which is no value. `to`, when
    /// given, is the check: the present one, where an equal one was there.
    bool check(NodeId node, const Op& kind, Diagnostic& problem, CheckId* to = nullptr);

    /// Adds a relation over values; Diagnostic when their number does not suit it.
    bool relate(const Op& relation, std::span<const NodeId> nodes, Diagnostic& problem,
                CheckId* to = nullptr);

    /// Makes room for steps and references that are about to be added, so that it need
    /// not grow by and by. Adding n in many small parts stays O(n).
    void make_room(size_t steps, size_t references);

    /// Keeps what the user says of a check (`note`: any object) for explanations.
    void annotate_check(CheckId check, Owned<> note);
    void annotate_relation(CheckId relation, Owned<> note);

    /// What was said, or null.
    PyObject* note(uint32_t id) const noexcept {
        return id == no_id ? nullptr : notes_[id];
    }

    /// What operands and notes refer to lives here; read_operands adds to it.
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

    /// One line per check: path, check, the same in Python; those of `assumed`
    /// (ascending) are marked. Ends in a newline.
    std::string text(std::span<const CheckId> assumed = {}) const;

    /// Forgets everything; for the garbage collector.
    void clear();

private:
    /// What the set of edges holds: a node, with the hash of its parent and step.
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

    /// A check of a node that has many.
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

    /// The check of the node that equals `kind`; no_id where there is none.
    CheckId find_check(NodeId node, const Op& kind);

    uint32_t keep_note(Owned<> note);

    // Deques: they waste no memory while they grow.
    std::deque<Node> nodes_;
    std::deque<Check> checks_;
    std::vector<RelationCheck> relations_;
    References references_;
    std::vector<PyObject*> notes_;  ///< kept alive among the references
    tsl::robin_set<Slot, SlotHash, SlotEqual> edges_;
    tsl::robin_set<Mark, SlotHash, MarkEqual> marks_;  ///< of nodes with many checks
};

}  // namespace guardtree
