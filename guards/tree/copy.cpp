// Copies guard trees.
// SPDX-License-Identifier: MIT
#include "copy.h"

#include "order.h"

namespace guardtree {
namespace {

class TreeCopier {
public:
    TreeCopier(const Tree& tree, const KeptGuards* kept, const FailureCounts* counts)
        : tree_(tree), kept_(kept), order_(tree, counts) {}

    Tree run() {
        find_wanted();
        place_.assign(tree_.node_count(), 0);
        copy_.references() = tree_.references();
        std::vector<NodeId> stack;
        push_children(0, stack);
        while (!stack.empty()) {
            const NodeId id = stack.back();
            stack.pop_back();
            copy_node(id);
            push_children(id, stack);
        }
        for (CheckId id = 0; id < tree_.relations().size(); ++id) {
            if (keeps_relation(id)) copy_relation(id);
        }
        return std::move(copy_);
    }

private:
    static bool is_in(const std::vector<bool>& kept, uint32_t id) {
        return id < kept.size() && kept[id];
    }

    bool keeps_check(CheckId id) const { return !kept_ || is_in(kept_->checks, id); }

    bool keeps_relation(CheckId id) const {
        return !kept_ || is_in(kept_->relations, id);
    }

    /// Marks nodes that have a kept check or relation at or below them.
    void find_wanted() {
        wanted_.assign(tree_.node_count(), false);
        for (CheckId id = 0; id < tree_.relations().size(); ++id) {
            if (!keeps_relation(id)) continue;
            for (const NodeId node : tree_.relations()[id].nodes) wanted_[node] = true;
        }
        for (auto id = static_cast<NodeId>(tree_.node_count()); id-- > 1;) {
            tree_.each_check(id, [&](CheckId check) {
                if (keeps_check(check)) wanted_[id] = true;
            });
            if (wanted_[id]) wanted_[tree_.node(id).parent] = true;
        }
    }

    void push_children(NodeId id, std::vector<NodeId>& stack) {
        const std::vector<NodeId> children = order_.children(id);
        for (size_t i = children.size(); i-- > 0;) {
            if (wanted_[children[i]]) stack.push_back(children[i]);
        }
    }

    // The original tree accepted these, so the copy accepts them too. No diagnostics
    // here.
    void copy_node(NodeId id) {
        const Node& node = tree_.node(id);
        Diagnostic problem;
        copy_.child(place_[node.parent], node.step, place_[id], problem);
        for (const CheckId check : order_.checks(id)) {
            if (!keeps_check(check)) continue;
            CheckId made = 0;
            copy_.check(place_[id], tree_.check_at(check).kind, problem, &made);
            PyObject* note = tree_.note(tree_.check_at(check).note);
            if (note) copy_.annotate_check(made, Owned<>::share(note));
        }
    }

    void copy_relation(CheckId id) {
        const RelationCheck& relation = tree_.relations()[id];
        std::vector<NodeId> nodes;
        for (const NodeId node : relation.nodes) nodes.push_back(place_[node]);
        Diagnostic problem;
        CheckId made = 0;
        copy_.relate(relation.relation, nodes, problem, &made);
        PyObject* note = tree_.note(relation.note);
        if (note) copy_.annotate_relation(made, Owned<>::share(note));
    }

    const Tree& tree_;
    const KeptGuards* kept_;
    TreeOrder order_;
    Tree copy_;
    std::vector<bool> wanted_;
    std::vector<NodeId> place_;  ///< the id in the copy of each node
};

}  // namespace

Tree copy_of(const Tree& tree, const KeptGuards* kept, const FailureCounts* counts) {
    return TreeCopier(tree, kept, counts).run();
}

}  // namespace guardtree
