// Guard trees as text.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "tree.h"

namespace guardtree {
namespace {

/// A node that is still to be printed.
struct Pending {
    NodeId id;
    size_t depth;
};

}  // namespace

std::string Tree::path_text(NodeId id) const {
    std::vector<const Op*> steps;
    for (; id != 0; id = nodes_[id].parent) steps.push_back(&nodes_[id].step);
    return nested_text(steps, {}, python_text);
}

std::string Tree::relation_text(CheckId id) const {
    std::vector<std::string> paths;
    for (const NodeId node : relations_[id].nodes) paths.push_back(path_text(node));
    return guardtree::relation_text(relations_[id].relation, paths);
}

std::string Tree::text(std::span<const CheckId> assumed) const {
    std::string text = "guard tree\n";
    std::vector<Pending> stack;
    const auto remark = [&](uint32_t id) {
        return note(id) ? "  # " + note_text(note(id)) : std::string();
    };
    auto push_children = [&](NodeId id, size_t depth) {
        const size_t first = stack.size();
        each_child(id, [&](NodeId child) { stack.push_back({child, depth}); });
        std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
    };
    push_children(0, 1);
    while (!stack.empty()) {
        const Pending next = stack.back();
        stack.pop_back();
        const std::string indent(next.depth * 2, ' ');
        const bool has_checks = nodes_[next.id].last_check != no_id;
        const std::string path = has_checks ? path_text(next.id) : "";
        text += indent + call_text(nodes_[next.id].step) + "\n";
        each_check(next.id, [&](CheckId id) {
            const Op& kind = checks_[id].kind;
            text += indent + "  - " + call_text(kind) + ": " + python_text(kind, path);
            if (std::ranges::binary_search(assumed, id)) text += "  [assumed]";
            text += remark(checks_[id].note) + "\n";
        });
        push_children(next.id, next.depth + 1);
    }
    for (CheckId id = 0; id < relations_.size(); ++id) {
        text += "  - " + std::string(relations_[id].relation.info().name) + ": " +
                relation_text(id) + remark(relations_[id].note) + "\n";
    }
    return text;
}

}  // namespace guardtree
