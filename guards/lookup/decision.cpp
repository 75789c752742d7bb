// Adds entries to a decision, and looks up keys in it.
// SPDX-License-Identifier: MIT
#include "decision.h"

#include <algorithm>

#include "../../framelocals/compiler.h"
#include "../objects/builtin_length.h"
#include "../operands/function_parts.h"
#include "../run/walk.h"

#include "table.h"

namespace guardtree {
namespace {

/// A question that needs more steps to peek is not asked.
constexpr size_t max_peeked = 4;

/// Calls `visit(path, peeked, op)` for each kind of a program up to the first op that
/// may run user code, that op included. `peeked`: the paths before it that have to
/// peek.
template <class Visitor>
void each_plain_kind(const Program& program, Visitor visit) {
    struct Around {
        size_t step;
        size_t last;
    };

    std::vector<Around> around;
    std::vector<ValuePath> peeked;
    const std::span<const Op> ops = program.ops();
    const auto path_from = [&](std::span<const Around> steps) {
        ValuePath path;
        for (const Around& each : steps) path.steps.push_back(ops[each.step]);
        if (path.steps.front().is_from_local()) path.slot = path.steps.front().source;
        return path;
    };
    for (size_t i = 0; i < ops.size(); ++i) {
        const Op& op = ops[i];
        if (op.is_internal()) continue;
        const bool is_last = calls_python(op) && !peeks(op);
        if (is_last && !op.is_kind()) return;
        while (!around.empty() && around.back().last < i) around.pop_back();
        if (op.is_step()) around.push_back({i, i + op.skip});
        if (peeks(op)) {
            peeked.push_back(path_from(around));
            const bool may_ask =
                peeked.size() <= max_peeked &&
                std::ranges::all_of(peeked.back().steps, is_plain_step);
            if (!may_ask) return;
        }
        if (!op.is_kind()) continue;
        ValuePath path =
            op.is_from_local() ? ValuePath{op.source, {}} : path_from(around);
        if (can_be_fetched(path)) visit(std::move(path), peeked, op);
        if (is_last) return;
    }
}

/// Those paths that `path` does not begin with.
std::vector<ValuePath> not_on(const ValuePath& path,
                              std::span<const ValuePath> peeked) {
    std::vector<ValuePath> others;
    for (const ValuePath& each : peeked) {
        const bool is_on =
            each.slot == path.slot && each.steps.size() <= path.steps.size() &&
            std::ranges::equal(each.steps,
                               std::span(path.steps).first(each.steps.size()), same_op);
        if (!is_on) others.push_back(each);
    }
    return others;
}

}  // namespace

bool same_question(const Question& a, const Question& b) noexcept {
    return a.of == b.of && same_path(a.path, b.path) &&
           std::ranges::equal(a.peeked, b.peeked, same_path);
}

Facts facts_of(const Program& program) {
    Facts facts;
    const auto add = [&](const ValuePath& path, const std::vector<ValuePath>& peeked,
                         const Op& kind) {
        for (Keys& keys : keys_of(kind)) {
            if (keys.of.kind != KeyKind::integer) {
                std::ranges::sort(keys.values);
                const auto more = std::unique(keys.values.begin(), keys.values.end());
                keys.values.erase(more, keys.values.end());
            }
            facts.emplace_back(Question{path, keys.of, not_on(path, peeked),
                                        !peeked.empty() || keys.of.may_be_unknown(),
                                        makes_value(path)},
                               std::move(keys.values));
        }
    };
    each_plain_kind(program, add);
    return facts;
}

const Bucket* Split::find_far(PyObject* value) const noexcept {
    switch (question.of.kind) {
    case KeyKind::length: {
        const Py_ssize_t length = builtin_length(value);
        if (length >= 0) return probe(static_cast<uint64_t>(length));
        return question.of.may_be_unknown() ? &open : nullptr;
    }
    case KeyKind::prefix: {
        uint64_t key = 0;
        return prefix_key(value, question.of.detail, key) ? probe(key) : nullptr;
    }
    case KeyKind::left: {
        uint64_t key = 0;
        return left_key(value, key) ? probe(key) : nullptr;
    }
    case KeyKind::function: return probe(key_of_function(value));
    case KeyKind::members: {
        uint64_t key = 0;
        return members_key(value, key) ? probe(key) : nullptr;
    }
    case KeyKind::tensor: {
        TensorFacts facts;
        if (!read_tensor(value, facts)) return nullptr;
        return probe(facts.kind & question.of.detail);
    }
    case KeyKind::integer: {
        if (!PyLong_CheckExact(value)) return nullptr;
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
        return overflow ? nullptr : find_range(number);
    }
    default: unreachable();
    }
}

PyObject* Split::fetch_special(const View& view, Owned<>& made) const noexcept {
    for (const ValuePath& path : question.peeked) {
        if (!fetch(path, view)) return nullptr;
    }
    return question.makes_value ? fetch(question.path, view, made)
                                : fetch(question.path, view);
}

const Bucket* Split::find_special(const View& view) const noexcept {
    Owned<> made;
    PyObject* const value = fetch_special(view, made);
    return value ? find_value(value) : without_value();
}

const Bucket* Split::find_range(int64_t value) const noexcept {
    if (starts.empty() || value < starts.front()) return nullptr;
    const int64_t* at = starts.data();
    for (size_t left = starts.size(); left > 1;) {
        const size_t half = left / 2;
        at += at[half] <= value ? half : 0;
        left -= half;
    }
    const Bucket& bucket = ranges[static_cast<size_t>(at - starts.data())];
    return bucket.is_empty() ? nullptr : &bucket;
}

void Decision::append(Bucket& bucket, const Candidate& added, const Facts& facts) {
    if (bucket.is_empty()) {
        bucket = Bucket(added);
        return;
    }
    if (bucket.only().entry == added.entry) return;  // two ranges may share it
    is_disjoint_ = false;
    if (bucket.only().entry) {
        nodes_.push_back({{}, {bucket.only(), added}});
        bucket = Bucket(static_cast<uint32_t>(nodes_.size() - 1));
    } else {
        append(bucket.node(), added, facts);
    }
}

// The copy of a node shares its child nodes.
size_t Decision::start_range(Split& split, int64_t start) {
    const auto at = std::ranges::lower_bound(split.starts, start);
    const auto place = at - split.starts.begin();
    if (at != split.starts.end() && *at == start) return static_cast<size_t>(place);
    Bucket divided = place ? split.ranges[static_cast<size_t>(place - 1)] : Bucket();
    if (!divided.is_empty() && !divided.only().entry) {
        nodes_.push_back(Node(nodes_[divided.node()]));
        divided = Bucket(static_cast<uint32_t>(nodes_.size() - 1));
    }
    split.starts.insert(at, start);
    split.ranges.insert(split.ranges.begin() + place, divided);
    return static_cast<size_t>(place);
}

bool Decision::append_range(Split& split, std::span<const uint64_t> range,
                            const Candidate& added, const Facts& facts) {
    const auto low = static_cast<int64_t>(range[0]);
    const auto high = static_cast<int64_t>(range[1]);
    if (low > high) return true;  // no value passes
    const size_t first = start_range(split, low);
    const size_t end =
        high == INT64_MAX ? split.ranges.size() : start_range(split, high + 1);
    if (end - first > max_ranges_of_one) return false;
    for (size_t i = first; i < end; ++i) append(split.ranges[i], added, facts);
    return true;
}

void Decision::append(uint32_t node, const Candidate& added, const Facts& facts) {
    for (Split& split : nodes_[node].splits) {
        const Question& question = split.question;
        const auto fact = std::ranges::find_if(facts, [&](const auto& each) {
            return same_question(each.first, question);
        });
        if (fact == facts.end()) continue;
        if (question.of.kind == KeyKind::integer) {
            if (!append_range(split, fact->second, added, facts)) continue;
            if (question.may_be_open) append(split.open, added, facts);
            return;
        }
        split.of_types.forget();
        for (const uint64_t key : fact->second)
            append(split.buckets[key], added, facts);
        if (question.may_be_open) append(split.open, added, facts);
        return;
    }
    std::vector<Candidate>& rest = nodes_[node].rest;
    // Two ranges may share a node.
    if (rest.empty() || rest.back().entry != added.entry) rest.push_back(added);
    is_disjoint_ = false;
}

void Decision::append(const Entry& added) {
    append(0, {&added, next_order_++}, facts_of(added.program));
}

bool Decision::remove(const Entry& entry) {
    for (const Node& node : nodes_) {
        const auto is_owned = [&](const Split& split) {
            return split.question.owner == &entry;
        };
        if (std::ranges::any_of(node.splits, is_owned)) return false;
    }
    const auto is_only = [&](const Bucket& each) {
        return each.only().entry == &entry;
    };
    for (Node& node : nodes_) {
        std::erase_if(node.rest, [&](auto& each) { return each.entry == &entry; });
        for (Split& split : node.splits) {
            split.of_types.forget();
            if (is_only(split.open)) split.open = Bucket();
            std::ranges::replace_if(split.ranges, is_only, Bucket());
            for (auto at = split.buckets.begin(); at != split.buckets.end();)
                at = is_only(at->second) ? split.buckets.erase(at) : std::next(at);
        }
    }
    return true;
}

template <class W>
Run* Decision::gather_below(const Bucket& bucket, const W& view,
                            Run* to) const noexcept {
    const Node& node = nodes_[bucket.node()];
    for (const Split& split : node.splits) to = gather_split(split, view, to);
    if (!node.rest.empty()) *to++ = run_of(node.rest);
    return to;
}

template <class W>
Run* Decision::gather_several(const Split& split, const W& view,
                              Run* to) const noexcept {
    Owned<> made;
    PyObject* value = nullptr;
    if constexpr (std::same_as<W, View>)
        value = split.fetch_special(view, made);
    else
        value = slot_object(view.slots()[split.question.path.slot]);
    Answers room;
    const Answers* const answers = value ? split.find_several(value, room) : nullptr;
    if (!answers) return gather_bucket(split.without_value(), view, to);
    for (const Bucket* const each : *answers) to = gather_bucket(each, view, to);
    return to;
}

template Run* Decision::gather_below(const Bucket&, const View&, Run*) const noexcept;
template Run* Decision::gather_below(const Bucket&, const LeafSlots&,
                                     Run*) const noexcept;
template Run* Decision::gather_several(const Split&, const View&, Run*) const noexcept;
template Run* Decision::gather_several(const Split&, const LeafSlots&,
                                       Run*) const noexcept;

}  // namespace guardtree
