// Computes the fail-first order, as far as it does not change the verdict.
// SPDX-License-Identifier: MIT
#include "order.h"

#include <algorithm>

#include "../concepts/inner_kinds.h"

namespace guardtree {
namespace {

bool is_plain_on(const Op& step, PyTypeObject* type) {
    return dispatch(step, [&]<class S>(const S& concrete) {
        if constexpr (IsPlainOnTypes<S>)
            return concrete.is_plain_on(type);
        else
            return false;
    });
}

uint64_t count_of(const std::vector<uint64_t>& counts, uint32_t id) noexcept {
    return id < counts.size() ? counts[id] : 0;
}

/// Sorts each run of pure elements by descending count. Other elements stay in place.
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
                     std::span<const NodeId> captured)
    : tree_(tree),
      counts_(counts),
      useful_(tree.node_count(), false),
      related_(tree.node_count(), false),
      has_captured_(!captured.empty()),
      captured_(has_captured_ ? tree.node_count() : 0, false) {
    for (const NodeId node : captured) captured_[node] = true;
    for (const RelationCheck& relation : tree.relations()) {
        for (const NodeId node : relation.nodes) related_[node] = true;
    }
    if (counts_) {
        pure_.assign(tree.node_count(), true);
        failures_.assign(tree.node_count(), 0);
    }
    for (auto id = static_cast<NodeId>(tree.node_count());
         id-- > 1;) {  // children before parents
        const Node& node = tree.node(id);
        if (node.last_check != no_id || related_[id]) useful_[id] = true;
        if (useful_[id]) useful_[node.parent] = true;
        if (!counts_) continue;
        failures_[id] += count_of(counts_->nodes, id);
        if (!is_pure_step(id)) pure_[id] = false;
        tree.each_check(id, [&](CheckId check) {
            failures_[id] += count_of(counts_->checks, check);
            if (calls_python(tree.check_at(check).kind)) pure_[id] = false;
        });
        failures_[node.parent] += failures_[id];
        if (!pure_[id]) pure_[node.parent] = false;
    }
}

bool TreeOrder::is_pure_step(NodeId id) const {
    const Op& step = tree_.node(id).step;
    if (!calls_python(step)) return true;
    bool is_plain = false;
    tree_.each_check(tree_.node(id).parent, [&](CheckId check) {
        PyTypeObject* type = exact_type_of(tree_.check_at(check).kind);
        if (type && is_plain_on(step, type)) is_plain = true;
    });
    return is_plain;
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

/// The text of the first op at or below a node that may run user code.
std::string TreeOrder::impure_text(NodeId node) const {
    std::vector<NodeId> left{node};
    while (!left.empty()) {
        const NodeId id = left.back();
        left.pop_back();
        if (!is_pure_step(id))
            return std::string(tree_.node(id).step.info().name) + " of " +
                   tree_.path_text(id);
        std::string text;
        tree_.each_check(id, [&](CheckId check) {
            const Op& kind = tree_.check_at(check).kind;
            if (text.empty() && calls_python(kind))
                text = python_text(kind, tree_.path_text(id));
        });
        if (!text.empty()) return text;
        const size_t first = left.size();
        tree_.each_child(id, [&](NodeId child) {
            if (!pure_[child]) left.push_back(child);
        });
        std::reverse(left.begin() + static_cast<std::ptrdiff_t>(first), left.end());
    }
    return {};
}

/// Reports each element that failed more often than one before it. For each, it names
/// the one before it that failed least, and the last one before it that may run user
/// code.
template <class Id, class IsPure, class Count, class Text>
void TreeOrder::add_kept(const std::vector<Id>& ids, IsPure is_pure, Count count,
                         Text text, std::vector<KeptInOrder>& to) const {
    size_t least = 0;
    size_t impure = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
        if (!is_pure(ids[i])) impure = i;
        if (count(ids[i]) > count(ids[least]))
            to.push_back({text(ids[i], false), count(ids[i]), text(ids[least], false),
                          text(ids[impure], true) + " may run user code"});
        if (count(ids[i]) < count(ids[least])) least = i;
    }
}

std::vector<KeptInOrder> TreeOrder::kept() const {
    std::vector<KeptInOrder> all;
    if (!counts_) return all;
    for (NodeId node = 0; node < tree_.node_count(); ++node) {
        add_kept(
            checks(node),
            [&](CheckId id) { return !calls_python(tree_.check_at(id).kind); },
            [&](CheckId id) { return count_of(counts_->checks, id); },
            [&](CheckId id, bool) {
                return python_text(tree_.check_at(id).kind, tree_.path_text(node));
            },
            all);
        add_kept(
            children(node), [&](NodeId id) { return pure_[id]; },
            [&](NodeId id) { return failures_[id]; },
            [&](NodeId id, bool is_reason) {
                return is_reason ? impure_text(id) : tree_.path_text(id);
            },
            all);
    }
    return all;
}

}  // namespace guardtree
