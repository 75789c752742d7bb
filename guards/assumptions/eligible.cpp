// Which parts of a tree an assumption can speak for, bottom up.
// SPDX-License-Identifier: MIT
#include "eligible.h"

#include <algorithm>

namespace guardtree {
namespace {

/// Look-ups below a value that make up for asking about it.
constexpr uint32_t least_lookups = 2;

bool starts_at_names(const Op& root) noexcept {
    return root.code() == code_of<Global> || root.code() == code_of<Builtin> ||
           root.code() == code_of<Module>;
}

/// Runs no user code and makes no reference.
bool is_plain(const Op& op) noexcept {
    return !calls_python(op) && !makes_reference(op);
}

bool reads_dict(const Op& op) noexcept {
    const Reads reads = op.info().reads;
    return reads == Reads::item || reads == Reads::attribute ||
           reads == Reads::class_and_attribute;
}

/// What is handed over without having been looked at is fetched after all guards: it
/// has to be what they would have seen.
bool may_run_python(const Tree& tree) noexcept {
    for (NodeId id = 1; id < tree.node_count(); ++id) {
        if (tree.node(id).step.info().calls_python) return true;
    }
    for (CheckId id = 0; id < tree.check_count(); ++id) {
        if (calls_python(tree.check_at(id).kind)) return true;
    }
    return false;
}

}  // namespace

Eligible::Eligible(const Tree& tree, const TreeOrder& order)
    : tree_(tree),
      is_pure_(tree.node_count(), true),
      lookups_(tree.node_count(), 0),
      is_useful_(tree.node_count(), false) {
    const bool may_skip_captured = !order.has_captured() || !may_run_python(tree);
    for (auto id = static_cast<NodeId>(tree.node_count()); id-- > 1;) {
        if (!order.is_useful(id)) continue;
        is_useful_[id] = true;
        const Node& node = tree.node(id);
        if (!is_plain(node.step)) is_pure_[id] = false;
        if (order.is_captured(id) && !may_skip_captured) is_pure_[id] = false;
        if (reads_dict(node.step)) ++lookups_[id];
        tree.each_check(id, [&](CheckId check) {
            if (!is_plain(tree.check_at(check).kind)) is_pure_[id] = false;
        });
        if (!is_pure_[id]) is_pure_[node.parent] = false;
        lookups_[node.parent] += lookups_[id];
    }
}

AssumedRun Eligible::roots_from(std::span<const NodeId> roots, size_t first) const {
    if (!is_assumable(roots[first])) return {first + 1, false};
    const Op& root = tree_.node(roots[first]).step;
    if (root.code() == code_of<Local>)
        return {first + 1, lookups_[roots[first]] >= least_lookups};
    size_t end = first;
    while (end < roots.size() && is_pure_[roots[end]] &&
           starts_at_names(tree_.node(roots[end]).step)) {
        ++end;
    }
    return end == first ? AssumedRun{first + 1, false} : AssumedRun{end, true};
}

AssumedRun Eligible::children_from(std::span<const NodeId> children,
                                   size_t first) const {
    size_t end = first;
    uint32_t lookups = 0;
    while (end < children.size() && is_assumable(children[end]))
        lookups += lookups_[children[end++]];
    return {std::max(end, first + 1), lookups >= least_lookups};
}

}  // namespace guardtree
