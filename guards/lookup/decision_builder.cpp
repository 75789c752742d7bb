// Chooses questions, and splits entries by them.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>

#include "decision.h"
#include "table.h"

namespace guardtree {
namespace {

uint64_t mixed(uint64_t a, uint64_t b) noexcept {
    return KeyHash()(a ^ (b + 0x9E3779B97F4A7C15u + (a << 6)));
}

uint64_t hash_question(const Question& question) noexcept {
    uint64_t hash = static_cast<uint64_t>(question.path.slot);
    for (const Op& step : question.path.steps) hash = mixed(hash, hash_op(step));
    return mixed(hash,
                 static_cast<uint64_t>(question.of.kind) | question.of.detail << 8);
}

struct Range {
    int64_t low;
    int64_t high;
};

/// The number of ordered pairs of ranges that overlap, including each range with
/// itself.
double overlaps(const std::vector<Range>& ranges) {
    std::vector<int64_t> lows;
    std::vector<int64_t> highs;
    for (const Range& each : ranges) {
        lows.push_back(each.low);
        highs.push_back(each.high);
    }
    std::ranges::sort(lows);
    std::ranges::sort(highs);
    double pairs = 0;
    for (const Range& each : ranges) {
        const auto begun = std::ranges::upper_bound(lows, each.high) - lows.begin();
        const auto ended = std::ranges::lower_bound(highs, each.low) - highs.begin();
        pairs += static_cast<double>(begun - ended);
    }
    return pairs;
}

}  // namespace

class DecisionBuilder {
public:
    DecisionBuilder(Decision& to, std::span<const Candidate> entries)
        : to_(to), entries_(entries), facts_(entries.size()) {
        for (size_t i = 0; i < entries.size(); ++i) note_facts(i);
    }

    void run() {
        std::vector<uint32_t> all(entries_.size());
        for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
        build(std::move(all), Decision::max_runs);
        to_.is_disjoint_ = to_.only_split() && to_.nodes_.size() == 1;
    }

private:
    struct Fact {
        uint32_t question;
        std::vector<uint64_t> keys;
    };

    using Numbers = std::vector<uint32_t>;  ///< indices of entries, ascending

    /// The number of entries that a question applies to, and the sum over its keys of
    /// the squared number of entries with that key.
    struct Score {
        double asked = 0;
        double squares = 0;
        std::vector<Range> ranges;

        /// The number of entries that an answer rules out, on average.
        double value() const { return asked > 0 ? asked - squares / asked : 0; }
    };

    /// A question with a lower score costs more than it saves.
    static constexpr double least_score = 1.4;
    static constexpr size_t max_splits = 3;
    static constexpr size_t least_node = 4;
    /// Ranges that overlap more than this would fill a split with copies.
    static constexpr double max_overlaps = 8;

    void note_facts(size_t entry) {
        for (auto& [asked, keys] : facts_of(entries_[entry].entry->program)) {
            Question& question = asked;
            question.owner = entries_[entry].entry;
            Numbers& known = numbers_[hash_question(question)];
            const auto found = std::ranges::find_if(known, [&](uint32_t number) {
                return same_question(questions_[number], question);
            });
            auto number = static_cast<uint32_t>(questions_.size());
            if (found != known.end()) {
                number = *found;
                // Of its owners, the youngest is evicted last.
                questions_[number] = std::move(question);
            } else {
                known.push_back(number);
                questions_.push_back(std::move(question));
            }
            // The same question twice: both conditions must hold, so one is enough.
            if (!fact(static_cast<uint32_t>(entry), number))
                facts_[entry].push_back({number, std::move(keys)});
        }
    }

    const Fact* fact(uint32_t entry, uint32_t question) const {
        for (const Fact& each : facts_[entry]) {
            if (each.question == question) return &each;
        }
        return nullptr;
    }

    bool is_of_ranges(uint32_t question) const {
        return questions_[question].of.kind == KeyKind::integer;
    }

    static Range range_of(const Fact& fact) {
        return {static_cast<int64_t>(fact.keys[0]), static_cast<int64_t>(fact.keys[1])};
    }

    /// The question that rules out most of these entries, or none if no question is
    /// worth its cost.
    uint32_t best_question(const Numbers& entries) const {
        tsl::robin_map<uint64_t, uint32_t, KeyHash> shares;
        tsl::robin_map<uint32_t, Score> scores;
        for (const uint32_t entry : entries) {
            for (const Fact& each : facts_[entry]) {
                Score& score = scores[each.question];
                score.asked += 1;
                if (is_of_ranges(each.question)) {
                    score.ranges.push_back(range_of(each));
                    continue;
                }
                for (const uint64_t key : each.keys) {
                    uint32_t& sharing = shares[mixed(each.question, key)];
                    score.squares += 2 * sharing++ + 1;
                }
            }
        }
        uint32_t best = Bucket::none;
        double most = least_score;
        for (auto at = scores.begin(); at != scores.end(); ++at) {
            const uint32_t question = at.key();
            Score& score = at.value();
            if (is_of_ranges(question)) {
                score.squares = overlaps(score.ranges);
                if (score.squares > max_overlaps * score.asked) continue;
            }
            const double value = score.value() - cost_of(questions_[question]);
            const bool is_better = value > most || (value == most && question < best);
            if (!is_better) continue;
            best = question;
            most = value;
        }
        return best;
    }

    /// Breaks ties between questions that rule out the same number of entries.
    static double cost_of(const Question& question) {
        const bool is_far =
            question.of.kind == KeyKind::size || question.of.kind == KeyKind::tensor ||
            question.of.kind == KeyKind::integer || question.may_be_open;
        return 0.01 * static_cast<double>(question.path.steps.size() + 2 * is_far);
    }

    /// Appends a node for these entries that leads to at most max_runs runs.
    uint32_t build(Numbers entries, size_t max_runs) {
        const auto number = static_cast<uint32_t>(to_.nodes_.size());
        to_.nodes_.emplace_back();
        std::vector<Numbers> asked;
        std::vector<uint32_t> chosen;
        while (chosen.size() < std::min(max_splits, max_runs - 1)) {
            const uint32_t question = best_question(entries);
            if (question == Bucket::none) break;
            const auto left = std::stable_partition(
                entries.begin(), entries.end(),
                [&](uint32_t entry) { return fact(entry, question) != nullptr; });
            chosen.push_back(question);
            asked.emplace_back(entries.begin(), left);
            entries.erase(entries.begin(), left);
        }
        for (const uint32_t entry : entries)
            to_.nodes_[number].rest.push_back(entries_[entry]);
        const size_t runs_left = chosen.empty() ? 0 : (max_runs - 1) / chosen.size();
        for (size_t i = 0; i < chosen.size(); ++i) {
            Split split(questions_[chosen[i]]);
            const bool are_several = split.question.of.are_several();
            if (are_several) split.max_answers = std::max(runs_left, size_t{1});
            if (is_of_ranges(chosen[i]))
                fill_ranges(split, chosen[i], asked[i], runs_left);
            else
                fill_buckets(split, chosen[i], asked[i], are_several ? 1 : runs_left);
            if (split.question.may_be_open) fill(split.open, asked[i], 1);
            to_.nodes_[number].splits.push_back(std::move(split));
        }
        return number;
    }

    void fill_buckets(Split& split, uint32_t question, const Numbers& entries,
                      size_t max_runs) {
        tsl::robin_map<uint64_t, Numbers, KeyHash> sharing;
        for (const uint32_t entry : entries) {
            for (const uint64_t key : fact(entry, question)->keys)
                sharing[key].push_back(entry);
        }
        split.buckets.max_load_factor(Split::load);
        split.buckets.reserve(sharing.size());
        for (const auto& [key, others] : sharing)
            fill(split.buckets[key], others, max_runs);
    }

    /// A new range starts where the range of an entry starts, and after its end.
    void fill_ranges(Split& split, uint32_t question, const Numbers& entries,
                     size_t max_runs) {
        std::vector<std::pair<int64_t, uint32_t>> begins;
        std::vector<std::pair<int64_t, uint32_t>> ends;
        std::set<int64_t> starts;
        for (const uint32_t entry : entries) {
            const Range range = range_of(*fact(entry, question));
            if (range.low > range.high) continue;  // no value passes
            begins.emplace_back(range.low, entry);
            starts.insert(range.low);
            if (range.high == INT64_MAX) continue;
            ends.emplace_back(range.high + 1, entry);
            starts.insert(range.high + 1);
        }
        std::ranges::sort(begins);
        std::ranges::sort(ends);
        split.starts.assign(starts.begin(), starts.end());
        split.ranges.resize(starts.size());
        std::set<uint32_t> inside;
        auto begin = begins.begin();
        auto end = ends.begin();
        for (size_t i = 0; i < split.starts.size(); ++i) {
            const int64_t start = split.starts[i];
            for (; end != ends.end() && end->first == start; ++end)
                inside.erase(end->second);
            for (; begin != begins.end() && begin->first == start; ++begin)
                inside.insert(begin->second);
            fill(split.ranges[i], {inside.begin(), inside.end()}, max_runs);
        }
    }

    void fill(Bucket& bucket, const Numbers& entries, size_t max_runs) {
        const bool is_node = entries.size() >= least_node && max_runs > 1 &&
                             best_question(entries) != Bucket::none;
        if (is_node) {
            bucket = Bucket(build(entries, max_runs));
        } else {
            for (const uint32_t entry : entries)
                to_.append(bucket, entries_[entry], Facts());
        }
    }

    Decision& to_;
    std::span<const Candidate> entries_;
    std::vector<std::vector<Fact>> facts_;
    std::vector<Question> questions_;
    tsl::robin_map<uint64_t, Numbers> numbers_;
};

Decision::Decision(std::span<const Candidate> entries)
    : next_order_(static_cast<uint32_t>(entries.size())) {
    DecisionBuilder(*this, entries).run();
}

}  // namespace guardtree
