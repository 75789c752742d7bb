// Builds guard trees.
// SPDX-License-Identifier: MIT
#include "tree.h"

#include <algorithm>

namespace guardtree {
namespace {

/// Appends `id` to the circular list whose last element is `last`.
template <class Array>
void append(Array& array, uint32_t& last, uint32_t id) {
    if (last == no_id) {
        array[id].next = id;
    } else {
        array[id].next = array[last].next;
        array[last].next = id;
    }
    last = id;
}

/// The names of the steps that start paths: "builtin, closure, ... or module".
std::string roots() {
    std::vector<std::string_view> names;
#define X(type, stem) \
    if (RootStep<type>) names.push_back(type::info.name);
    GUARDTREE_STEPS(X)
#undef X
    std::string text;
    for (size_t i = 0; i < names.size(); ++i) {
        if (i) text += i + 1 == names.size() ? " or " : ", ";
        text += names[i];
    }
    return text;
}

uint32_t edge_hash(NodeId parent, const Op& op) noexcept {
    const uint64_t mixed =
        (hash_op(op) ^ (parent * 0x9E3779B97F4A7C15u)) * 0xD6E8FEB86659FD93u;
    return static_cast<uint32_t>(mixed >> 32);
}

}  // namespace

Tree::Tree() : nodes_(1) {
    edges_.max_load_factor(0.8f);
}

bool Tree::child(NodeId parent, const Op& step, NodeId& to, Diagnostic& problem) {
    if (is_root_step(step) != (parent == 0)) {
        const std::string name(step.info().name);
        problem = {PyExc_ValueError,
                   parent == 0
                       ? name + " needs a value to start from; begin with " + roots()
                       : name + " starts a path; call it on the root of the tree"};
        return false;
    }
    const Wanted wanted{edge_hash(parent, step), parent, &step, &nodes_};
    const auto found = edges_.find(wanted);
    if (found != edges_.end()) {
        to = found->node;
        return true;
    }
    if (nodes_.size() >= no_id) {
        problem = {PyExc_OverflowError, "a guard tree holds less than 2**32 values"};
        return false;
    }
    to = static_cast<NodeId>(nodes_.size());
    nodes_.push_back({.step = step, .parent = parent});
    append(nodes_, nodes_[parent].last_child, to);
    edges_.insert(Slot{wanted.hash, to});
    return true;
}

void Tree::make_room(size_t steps, size_t references) {
    references += references_.size();
    if (references > references_.capacity())
        references_.reserve(std::max(references, 2 * references_.capacity()));
    steps += edges_.size();
    const auto buckets = static_cast<float>(edges_.bucket_count());
    if (static_cast<float>(steps) > buckets * edges_.max_load_factor())
        edges_.reserve(steps);
}

bool Tree::check(NodeId node, const Op& kind, Diagnostic& problem, CheckId* to) {
    if (node == 0) {
        problem = {PyExc_ValueError, std::string(kind.info().name) +
                                         " checks a value; begin with " + roots()};
        return false;
    }
    CheckId present = find_check(node, kind);
    if (present == no_id) {
        present = static_cast<CheckId>(checks_.size());
        checks_.push_back({.kind = kind});
        append(checks_, nodes_[node].last_check, present);
    }
    if (to) *to = present;
    return true;
}

/// A few checks are compared one by one. After the first search in a node with more
/// checks, the set contains all checks of that node.
CheckId Tree::find_check(NodeId node, const Op& kind) {
    constexpr int few = 16;
    const CheckId last = nodes_[node].last_check;
    if (last == no_id) return no_id;
    CheckId at = last;
    for (int i = 0; i < few; ++i) {
        at = checks_[at].next;
        if (same_op(checks_[at].kind, kind)) return at;
        if (at == last) return no_id;
    }
    const auto add = [&](CheckId id) {
        marks_.insert(Mark{edge_hash(node, checks_[id].kind), node, id});
    };
    const WantedMark first{edge_hash(node, checks_[at].kind), node, &checks_[at].kind,
                           &checks_};
    if (marks_.find(first) == marks_.end()) {
        each_check(node, add);
    } else {
        add(last);  // the one added since
    }
    const WantedMark wanted{edge_hash(node, kind), node, &kind, &checks_};
    const auto found = marks_.find(wanted);
    return found == marks_.end() ? no_id : found->check;
}

bool Tree::relate(const Op& relation, std::span<const NodeId> nodes,
                  Diagnostic& problem, CheckId* to) {
    std::string text = arity_problem(relation, nodes.size());
    for (const NodeId node : nodes) {
        if (node == 0)
            text =
                std::string(relation.info().name) + " relates values; the root is none";
    }
    if (!text.empty()) {
        problem = {PyExc_ValueError, text};
        return false;
    }
    if (to) *to = static_cast<CheckId>(relations_.size());
    relations_.push_back({relation, {nodes.begin(), nodes.end()}});
    return true;
}

uint32_t Tree::keep_note(Owned<> note) {
    if (!note) return no_id;
    notes_.push_back(note.get());
    references_.push_back(std::move(note));
    return static_cast<uint32_t>(notes_.size() - 1);
}

void Tree::annotate_check(CheckId check, Owned<> note) {
    checks_[check].note = keep_note(std::move(note));
}

void Tree::annotate_relation(CheckId relation, Owned<> note) {
    relations_[relation].note = keep_note(std::move(note));
}

void Tree::clear() {
    nodes_.assign(1, Node());
    checks_.clear();
    relations_.clear();
    edges_.clear();
    marks_.clear();
    notes_.clear();
    // Releasing references may run user code, which may look at the tree.
    References references;
    references.swap(references_);
}

}  // namespace guardtree
