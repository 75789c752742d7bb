// Copies guard trees.
// SPDX-License-Identifier: MIT
#include "copy.h"

#include "order.h"

namespace guardtree {
namespace {

class TreeCopier {
public:
    TreeCopier(const Tree& tree, const KeptGuards* kept, const FailureCounts* counts,
               PyObject* default_note, Tree& to)
        : tree_(tree),
          kept_(kept),
          order_(tree, counts),
          note_(default_note),
          to_(to) {}

    bool run(Diagnostic& problem) {
        find_wanted();
        place_.assign(tree_.node_count(), 0);
        const References& used = tree_.references();
        to_.references().insert(to_.references().end(), used.begin(), used.end());
        std::vector<NodeId> stack;
        push_children(0, stack);
        while (!stack.empty()) {
            const NodeId id = stack.back();
            stack.pop_back();
            if (!copy_node(id, problem)) return false;
            push_children(id, stack);
        }
        for (CheckId id = 0; id < tree_.relations().size(); ++id) {
            if (keeps_relation(id) && !copy_relation(id, problem)) return false;
        }
        return true;
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

    bool copy_node(NodeId id, Diagnostic& problem) {
        const Node& node = tree_.node(id);
        if (!to_.child(place_[node.parent], node.step, place_[id], problem))
            return false;
        for (const CheckId check : order_.checks(id)) {
            if (!keeps_check(check)) continue;
            CheckId made = 0;
            if (!to_.check(place_[id], tree_.check_at(check).kind, problem, &made))
                return false;
            PyObject* const note = note_of(tree_.check_at(check).note);
            if (note && !to_.note(to_.check_at(made).note))
                to_.annotate_check(made, Owned<>::share(note));
        }
        return true;
    }

    bool copy_relation(CheckId id, Diagnostic& problem) {
        const RelationCheck& relation = tree_.relations()[id];
        std::vector<NodeId> nodes;
        for (const NodeId node : relation.nodes) nodes.push_back(place_[node]);
        CheckId made = 0;
        if (!to_.relate(relation.relation, nodes, problem, &made)) return false;
        PyObject* const note = note_of(relation.note);
        if (note && !to_.note(to_.relations()[made].note))
            to_.annotate_relation(made, Owned<>::share(note));
        return true;
    }

    PyObject* note_of(uint32_t id) const noexcept {
        PyObject* const own = tree_.note(id);
        return own ? own : note_;
    }

    const Tree& tree_;
    const KeptGuards* kept_;
    TreeOrder order_;
    PyObject* note_;  ///< of guards without one; or null
    Tree& to_;
    std::vector<bool> wanted_;
    std::vector<NodeId> place_;  ///< the id in `to_` of each node
};

}  // namespace

Tree copy_of(const Tree& tree, const KeptGuards* kept, const FailureCounts* counts) {
    Tree copy;
    Diagnostic problem;  // stays empty: the original tree accepted the same
    TreeCopier(tree, kept, counts, nullptr, copy).run(problem);
    return copy;
}

bool include(const Tree& tree, PyObject* note, Tree& to, Diagnostic& problem) {
    return TreeCopier(tree, nullptr, nullptr, note, to).run(problem);
}

}  // namespace guardtree
