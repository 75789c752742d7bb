// Finds the entries that can pass by keys of values, instead of trying all of them.
// SPDX-License-Identifier: MIT
//
// How it works. A split asks for the key of one value and has a bucket of entries for
// each key. An entry is stored in one split of its node, in the bucket of each key that
// its check of that value passes, or else in the rest of the node. A bucket with many
// entries is a node of its own, which is split by other values. A look-up collects the
// runs of entries that its view leads to, which are only a few, and walks their entries
// in insertion order.
//
// Why this gives the same answer as trying all. An entry is split by a check only if no
// op before that check runs user code. For a value with another key, the walk of that
// entry would have failed at that check or earlier, without a visible effect. Changes
// that user code makes during a look-up are seen, because runs are collected again
// after an entry that may run user code.
#pragma once
#include <span>

#include "split.h"

namespace guardtree {

/// A range of candidates, in order. At least one.
struct Run {
    const Candidate* at;
    const Candidate* end;
};

/// The questions of checks, each with the keys that the check passes.
using Facts = std::vector<std::pair<Question, std::vector<uint64_t>>>;

/// The keys that a program's checks determine before any op that may run user code. Not
/// for the walk.
Facts facts_of(const Program& program);

/// An index of entries by the answers to a few questions. Refers to the entries. Its
/// size and the time to build it are O(number of their keys).
class Decision {
public:
    /// The maximum number of runs that a view can lead to.
    static constexpr size_t max_runs = 8;

    /// Builds the index of these entries, in insertion order.
    explicit Decision(std::span<const Candidate> entries);

    /// Adds an entry after all others. The questions stay the same.
    void append(const Entry& added);

    /// Removes an entry wherever it is. O(entries), with a small factor. False, and
    /// nothing is removed, if a question reads operands of this entry.
    bool remove(const Entry& entry);

    /// Whether there is any question. If not, all entries are in the rest.
    bool has_splits() const noexcept { return !nodes_[0].splits.empty(); }

    /// Whether no two entries can pass the same view, so any entry that passes is the
    /// answer.
    bool is_disjoint() const noexcept { return is_disjoint_; }

    /// The split, if there is only one, every entry is in it, and a value has only one
    /// of its keys. Null otherwise.
    const Split* only_split() const noexcept {
        const Node& root = nodes_.front();
        const bool is_only = root.splits.size() == 1 && root.rest.empty() &&
                             !root.splits[0].question.of.are_several();
        return is_only ? root.splits.data() : nullptr;
    }

    /// Writes the runs that `view` leads to to `to`, and returns their end. W: View, or
    /// LeafSlots if every path is a slot.
    template <class W>
    [[gnu::always_inline]] Run* gather(const W& view, Run* to) const noexcept {
        const Node& root = nodes_.front();
        for (const Split& split : root.splits) to = gather_split(split, view, to);
        if (!root.rest.empty()) *to++ = run_of(root.rest);
        return to;
    }

private:
    friend class DecisionBuilder;

    /// A node without splits is a list of entries.
    struct Node {
        std::vector<Split> splits;
        std::vector<Candidate> rest;
    };

    static Run run_of(const std::vector<Candidate>& all) noexcept {
        return {all.data(), all.data() + all.size()};
    }

    template <class W>
    [[gnu::always_inline]] Run* gather_split(const Split& split, const W& view,
                                             Run* to) const noexcept {
        if (split.question.of.are_several()) [[unlikely]]
            return gather_several(split, view, to);
        return gather_bucket(split.find(view), view, to);
    }

    /// `bucket` may be null.
    template <class W>
    [[gnu::always_inline]] Run* gather_bucket(const Bucket* bucket, const W& view,
                                              Run* to) const noexcept {
        if (!bucket) return to;
        const Candidate& only = bucket->only();
        if (!only.entry) [[unlikely]]
            return gather_below(*bucket, view, to);
        *to++ = {&only, &only + 1};
        return to;
    }

    /// For a bucket of several entries.
    template <class W>
    Run* gather_below(const Bucket& bucket, const W& view, Run* to) const noexcept;

    /// For a split of keys of which a value has several.
    template <class W>
    [[gnu::noinline]] Run* gather_several(const Split& split, const W& view,
                                          Run* to) const noexcept;

    /// An entry that would be appended to more ranges goes to the rest.
    static constexpr size_t max_ranges_of_one = 8;

    /// The index of the range that starts there. Divides a range if there is none.
    size_t start_range(Split& split, int64_t start);

    /// `range`: its first and last number. False if it has too many ranges.
    bool append_range(Split& split, std::span<const uint64_t> range,
                      const Candidate& added, const Facts& facts);

    void append(uint32_t node, const Candidate& added, const Facts& facts);

    void append(Bucket& bucket, const Candidate& added, const Facts& facts);

    /// The nodes move when the vector grows, but the storage of their splits stays in
    /// place.
    std::vector<Node> nodes_;
    uint32_t next_order_ = 0;  ///< greater than that of every candidate
    bool is_disjoint_ = false;
};

}  // namespace guardtree
