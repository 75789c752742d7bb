// Building and printing guard trees.
// SPDX-License-Identifier: MIT
#include "tree.h"

#include <limits>

namespace guardtree {
namespace {

bool is_root_step(const Op& step) noexcept {
    return dispatch(step, [](const auto& concrete) {
        return RootStep<std::remove_cvref_t<decltype(concrete)>>;
    });
}

void append_text(const Tree& tree, NodeId id, int depth, std::string& text) {
    const Node& node = tree.nodes()[id];
    const std::string indent(static_cast<size_t>(depth) * 2, ' ');
    if (id != 0) {
        text += indent + call_text(node.step) + "\n";
        const std::string path = tree.path_text(id);
        for (const Op& check : node.checks) {
            text += indent + "  - " + call_text(check) + ": " +
                    python_text(check, path) + "\n";
        }
    }
    for (NodeId child : node.children) append_text(tree, child, depth + 1, text);
}

}  // namespace

Tree::Tree() : nodes_(1) {}

bool Tree::child(NodeId parent, const Op& step, NodeId& to, Diagnostic& problem) {
    const std::string name(step.info().name);
    if (is_root_step(step) != (parent == 0)) {
        problem = {PyExc_ValueError,
                   parent == 0
                       ? name +
                             " needs a value to start from; begin with local, "
                             "global_, builtin, closure or f_locals"
                       : name + " starts a path; call it on the root of the tree"};
        return false;
    }
    const auto found = edges_.find(Edge{parent, step});
    if (found != edges_.end()) {
        to = found->second;
        return true;
    }
    if (nodes_.size() >= std::numeric_limits<NodeId>::max()) {
        problem = {PyExc_OverflowError, "a guard tree holds at most 2**32 values"};
        return false;
    }
    to = static_cast<NodeId>(nodes_.size());
    nodes_.push_back({.step = step, .parent = parent, .children = {}, .checks = {}});
    nodes_[parent].children.push_back(to);
    edges_.emplace(Edge{parent, step}, to);
    return true;
}

bool Tree::check(NodeId node, const Op& kind, Diagnostic& problem) {
    if (node == 0) {
        problem = {
            PyExc_ValueError,
            std::string(kind.info().name) +
                " checks a value; begin with local, global_, builtin, closure or "
                "f_locals"};
        return false;
    }
    std::vector<Op>& checks = nodes_[node].checks;
    for (const Op& present : checks) {
        if (same_op(present, kind)) return true;
    }
    checks.push_back(kind);
    return true;
}

std::string Tree::path_text(NodeId node) const {
    if (node == 0) return {};
    // Outermost step last: collect upwards, render downwards (no recursion on deep
    // paths).
    std::vector<NodeId> path;
    for (NodeId id = node; id != 0; id = nodes_[id].parent) path.push_back(id);
    std::string text;
    for (size_t i = path.size(); i-- > 0;) {
        text = python_text(nodes_[path[i]].step, text);
    }
    return text;
}

std::string Tree::text() const {
    std::string text = "guard tree\n";
    append_text(*this, 0, 0, text);
    return text;
}

void Tree::clear() {
    nodes_.assign(1, Node());
    edges_.clear();
    References().swap(references_);
}

}  // namespace guardtree
