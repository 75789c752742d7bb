// Compares trees, and determines the order in which they are compared and written.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "../names/path_texts.h"

#include "text.h"

namespace guardtree {
namespace {

bool same_checks(const Tree& a, NodeId x, const Tree& b, NodeId y) {
    std::vector<const Op*> left;
    std::vector<const Op*> right;
    a.each_check(x, [&](CheckId id) { left.push_back(&a.check_at(id).kind); });
    b.each_check(y, [&](CheckId id) { right.push_back(&b.check_at(id).kind); });
    return std::ranges::equal(left, right, [](const Op* one, const Op* other) {
        return same_op(*one, *other);
    });
}

bool same_relation(const Op& a, const Op& b, size_t count) {
    if (same_op(a, b)) return true;
    if (a.code() != b.code() || a.code() != code_of<Integers>) return false;
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) names.push_back("v" + std::to_string(i));
    return relation_text(a, names) == relation_text(b, names);
}

}  // namespace

std::vector<NodeId> preorder_of(const Tree& tree) {
    std::vector<NodeId> order;
    std::vector<NodeId> stack = {0};
    while (!stack.empty()) {
        const NodeId id = stack.back();
        stack.pop_back();
        order.push_back(id);
        const size_t first = stack.size();
        tree.each_child(id, [&](NodeId child) { stack.push_back(child); });
        std::reverse(stack.begin() + static_cast<ptrdiff_t>(first), stack.end());
    }
    return order;
}

bool same_tree(const Tree& a, const Tree& b) {
    const std::vector<NodeId> left = preorder_of(a);
    const std::vector<NodeId> right = preorder_of(b);
    if (left.size() != right.size() || a.relations().size() != b.relations().size())
        return false;
    std::vector<NodeId> counterpart(a.node_count());
    for (size_t i = 0; i < left.size(); ++i) {
        counterpart[left[i]] = right[i];
        if (i == 0) continue;
        const Node& x = a.node(left[i]);
        const Node& y = b.node(right[i]);
        if (counterpart[x.parent] != y.parent || !same_op(x.step, y.step) ||
            !same_checks(a, left[i], b, right[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < a.relations().size(); ++i) {
        const RelationCheck& x = a.relations()[i];
        const RelationCheck& y = b.relations()[i];
        const bool same_nodes = std::ranges::equal(
            x.nodes, y.nodes, {}, [&](NodeId id) { return counterpart[id]; });
        if (!same_nodes || !same_relation(x.relation, y.relation, x.nodes.size()))
            return false;
    }
    return true;
}

}  // namespace guardtree
