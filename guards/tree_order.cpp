// Fail-first order, as far as it changes no answer.
// SPDX-License-Identifier: MIT
#include "tree_order.h"

#include <algorithm>

namespace guardtree {
namespace {

uint64_t count_of(const std::vector<uint64_t>& counts, uint32_t id) noexcept {
    return id < counts.size() ? counts[id] : 0;
}

/// Sorts each run of pure elements by falling count; others stay where they are.
void sort_runs(std::vector<uint32_t>& ids, auto is_pure, auto count) {
    for (auto first = ids.begin(); first != ids.end();) {
        auto last = std::find_if_not(first, ids.end(), is_pure);
        std::stable_sort(first, last,
                         [&](uint32_t a, uint32_t b) { return count(a) > count(b); });
        first = last == ids.end() ? last : last + 1;
    }
}

}  // namespace

TreeOrder::TreeOrder(const Tree& tree, const FailureCounts* counts,
                     std::span<const NodeId> bound)
    : tree_(tree),
      counts_(counts),
      useful_(tree.node_count(), false),
      related_(tree.node_count(), false),
      has_bound_(!bound.empty()),
      bound_(has_bound_ ? tree.node_count() : 0, false) {
    for (const NodeId node : bound) bound_[node] = true;
    for (const RelationCheck& relation : tree.relations()) {
        for (const NodeId node : relation.nodes) related_[node] = true;
    }
    if (counts_) {
        pure_.assign(tree.node_count(), true);
        failures_.assign(tree.node_count(), 0);
    }
    for (auto id = static_cast<NodeId>(tree.node_count());
         id-- > 1;) {  // children first
        const Node& node = tree.node(id);
        if (node.last_check != no_id || related_[id]) useful_[id] = true;
        if (useful_[id]) useful_[node.parent] = true;
        if (!counts_) continue;
        failures_[id] += count_of(counts_->nodes, id);
        if (calls_python(node.step)) pure_[id] = false;
        tree.each_check(id, [&](CheckId check) {
            failures_[id] += count_of(counts_->checks, check);
            if (calls_python(tree.check_at(check).kind)) pure_[id] = false;
        });
        failures_[node.parent] += failures_[id];
        if (!pure_[id]) pure_[node.parent] = false;
    }
}

std::vector<NodeId> TreeOrder::children(NodeId node) const {
    std::vector<NodeId> ids;
    tree_.each_child(node, [&](NodeId id) { ids.push_back(id); });
    if (counts_) {
        sort_runs(
            ids, [&](NodeId id) { return pure_[id]; },
            [&](NodeId id) { return failures_[id]; });
    }
    return ids;
}

std::vector<CheckId> TreeOrder::checks(NodeId node) const {
    std::vector<CheckId> ids;
    tree_.each_check(node, [&](CheckId id) { ids.push_back(id); });
    if (counts_) {
        sort_runs(
            ids, [&](CheckId id) { return !calls_python(tree_.check_at(id).kind); },
            [&](CheckId id) { return count_of(counts_->checks, id); });
    }
    return ids;
}

}  // namespace guardtree
