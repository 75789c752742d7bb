// Adds entries to a decision, and looks up keys in it.
// SPDX-License-Identifier: MIT
#include "decision.h"

#include "../../framelocals/compiler.h"

#include <algorithm>

#include "../objects/builtin_length.h"
#include "../run/walk.h"

#include "table.h"

namespace guardtree {
namespace {

/// Calls `visit(path, op)` for each kind of a program that comes before any op that may
/// run user code.
template <class Visitor>
void each_plain_kind(const Program& program, Visitor visit) {
    struct Around {
        size_t step;
        size_t last;
    };

    std::vector<Around> around;
    const std::span<const Op> ops = program.ops();
    for (size_t i = 0; i < ops.size(); ++i) {
        const Op& op = ops[i];
        if (op.is_internal()) continue;
        if (calls_python(op)) return;
        while (!around.empty() && around.back().last < i) around.pop_back();
        if (op.is_step()) around.push_back({i, i + op.skip});
        if (!op.is_kind()) continue;
        ValuePath path;
        if (op.is_from_local()) {
            path.slot = op.source;
        } else {
            for (const Around& each : around) path.steps.push_back(ops[each.step]);
            if (path.steps.front().is_from_local())
                path.slot = path.steps.front().source;
        }
        if (std::ranges::all_of(path.steps, is_plain_step)) visit(std::move(path), op);
    }
}

}  // namespace

bool same_question(const Question& a, const Question& b) noexcept {
    return a.of == b.of && same_path(a.path, b.path);
}

Facts facts_of(const Program& program) {
    Facts facts;
    each_plain_kind(program, [&](const ValuePath& path, const Op& kind) {
        for (Keys& keys : keys_of(kind)) {
            if (keys.of.kind != KeyKind::integer) {
                std::ranges::sort(keys.values);
                const auto more = std::unique(keys.values.begin(), keys.values.end());
                keys.values.erase(more, keys.values.end());
            }
            facts.emplace_back(Question{path, keys.of}, std::move(keys.values));
        }
    });
    return facts;
}

const Bucket* Split::find_far(PyObject* value) const noexcept {
    switch (question.of.kind) {
    case KeyKind::length: {
        const Py_ssize_t length = builtin_length(value);
        return length < 0 ? nullptr : probe(static_cast<uint64_t>(length));
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
    is_disjoint_ = false;
    if (bucket.only().entry) {
        nodes_.push_back({{}, {bucket.only(), added}});
        bucket = Bucket(static_cast<uint32_t>(nodes_.size() - 1));
    } else {
        append(bucket.node(), added, facts);
    }
}

void Decision::append(uint32_t node, const Candidate& added, const Facts& facts) {
    for (Split& split : nodes_[node].splits) {
        const Question& question = split.question;
        if (question.of.kind == KeyKind::integer) continue;
        const auto fact = std::ranges::find_if(facts, [&](const auto& each) {
            return same_question(each.first, question);
        });
        if (fact == facts.end()) continue;
        for (const uint64_t key : fact->second)
            append(split.buckets[key], added, facts);
        return;
    }
    nodes_[node].rest.push_back(added);
    is_disjoint_ = false;
}

void Decision::append(const Candidate& added) {
    append(0, added, facts_of(added.entry->program));
}

template <class W>
Run* Decision::gather_below(const Bucket& bucket, const W& view,
                            Run* to) const noexcept {
    if (bucket.only().entry) {
        *to++ = {&bucket.only(), &bucket.only() + 1};
        return to;
    }
    const Node& node = nodes_[bucket.node()];
    for (const Split& split : node.splits) {
        if (const Bucket* const found = split.find(view))
            to = gather_below(*found, view, to);
    }
    if (!node.rest.empty()) *to++ = run_of(node.rest);
    return to;
}

template Run* Decision::gather_below(const Bucket&, const View&, Run*) const noexcept;
template Run* Decision::gather_below(const Bucket&, const LeafSlots&,
                                     Run*) const noexcept;

}  // namespace guardtree
