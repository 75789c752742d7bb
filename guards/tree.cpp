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

/// A node that is still to be printed.
struct Pending {
    NodeId id;
    size_t depth;
    std::string parent_path;
};

void append_node(const Node& node, const std::string& path, size_t depth,
                 std::string& text) {
    const std::string indent(depth * 2, ' ');
    text += indent + call_text(node.step) + "\n";
    for (const Op& check : node.checks) {
        text +=
            indent + "  - " + call_text(check) + ": " + python_text(check, path) + "\n";
    }
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
    std::vector<Pending> stack;
    auto push_children = [&](NodeId id, size_t depth, const std::string& path) {
        const std::vector<NodeId>& children = nodes_[id].children;
        for (size_t i = children.size(); i-- > 0;) {
            stack.push_back({children[i], depth, path});
        }
    };
    push_children(0, 1, {});
    while (!stack.empty()) {
        const Pending next = std::move(stack.back());
        stack.pop_back();
        const Node& node = nodes_[next.id];
        const std::string path = python_text(node.step, next.parent_path);
        append_node(node, path, next.depth, text);
        push_children(next.id, next.depth + 1, path);
    }
    return text;
}

void Tree::clear() {
    nodes_.assign(1, Node());
    edges_.clear();
    References().swap(references_);
}

}  // namespace guardtree
