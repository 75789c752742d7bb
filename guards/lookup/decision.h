// Which entries can pass: found by keys of values instead of trying them all.
// SPDX-License-Identifier: MIT
//
// How it works. Each entry lies in one place: in a bucket of a split (the entries whose
// check of one value passes only values of that key), or among the rest of its node. A
// bucket of many entries is a node of its own, split by other values. A look-up gathers
// the runs of entries that its view leads to, a few at most, and walks these in the
// order of insertion.
//
// Why the answer is that of trying all. An entry is split by a check only where no op
// before that check runs user code: for a value of another key its walk would have
// failed there or earlier, and nobody could have told. What user code changes during a
// look-up is seen: runs are gathered anew behind an entry that may run some.
#pragma once
#include <span>

#include "split.h"

namespace guardtree {

/// Candidates in their order, one or more.
struct Run {
    const Candidate* at;
    const Candidate* end;
};

/// A check's question with the keys that it passes.
using Facts = std::vector<std::pair<Question, std::vector<uint64_t>>>;

/// What a program's checks say of keys before anything that may run user code. Cold.
Facts facts_of(const Program& program);

/// Entries by the answers to a few questions. Refers to the entries; size and time to
/// make it are O(their keys).
class Decision {
public:
    /// Runs that a view can lead to.
    static constexpr size_t most_runs = 8;

    /// Of entries in order, from the first one on.
    explicit Decision(std::span<const Candidate> entries);

    /// Adds one behind all others. The questions stay.
    void append(const Candidate& added);

    /// Whether a question is asked at all; else all are the rest.
    bool has_splits() const noexcept { return !nodes_[0].splits.empty(); }

    /// No two entries can pass the same view: whichever passes is the answer.
    bool is_disjoint() const noexcept { return is_disjoint_; }

    /// The one question that every entry is put to; null where there are more.
    const Split* only_split() const noexcept {
        const Node& root = nodes_.front();
        return root.splits.size() == 1 && root.rest.empty() ? root.splits.data()
                                                            : nullptr;
    }

    /// The runs that `view` leads to, from `to` on: their end. W: View or LeafSlots,
    /// the latter where every path is a slot.
    template <class W>
    [[gnu::always_inline]] Run* gather(const W& view, Run* to) const noexcept {
        const Node& root = nodes_.front();
        for (const Split& split : root.splits) {
            const Bucket* const found = split.find(view);
            if (!found) continue;
            if (found->only().entry) [[likely]]
                *to++ = {&found->only(), &found->only() + 1};
            else
                to = gather_below(*found, view, to);
        }
        if (!root.rest.empty()) *to++ = run_of(root.rest);
        return to;
    }

private:
    friend class DecisionBuilder;

    /// Without splits: a list.
    struct Node {
        std::vector<Split> splits;
        std::vector<Candidate> rest;
    };

    static Run run_of(const std::vector<Candidate>& all) noexcept {
        return {all.data(), all.data() + all.size()};
    }

    /// A bucket that is no single entry.
    template <class W>
    Run* gather_below(const Bucket& bucket, const W& view, Run* to) const noexcept;

    void append(uint32_t node, const Candidate& added, const Facts& facts);

    void append(Bucket& bucket, const Candidate& added, const Facts& facts);

    /// Moved when it grows, which leaves each node's splits where they are.
    std::vector<Node> nodes_;
    bool is_disjoint_ = false;
};

}  // namespace guardtree
