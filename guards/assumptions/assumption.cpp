// Asking an assumption, and what ends it.
// SPDX-License-Identifier: MIT
#include "assumption.h"

#include <algorithm>
#include <utility>

#include "../program/program.h"

namespace guardtree {
namespace {

/// Passes in a row from the same start that arm again, at most.
constexpr uint32_t max_wanted_passes = 1u << 16;

/// Arming again at once is worth trying so often.
constexpr uint32_t max_short_lives = 4;

/// What held for so long was worth arming.
constexpr auto long_enough = std::chrono::milliseconds(10);

bool enabled = true;

bool differs(const KeptWord& word) noexcept {
    return word_at(word.at) != word.expected;
}

/// The first word that differs, as the one at the end always does. One jump for four.
[[gnu::always_inline]] inline const KeptWord* first_different(
    const KeptWord* word) noexcept {
    for (;; word += 4) {
        if (differs(word[0])) return word;
        if (differs(word[1])) return word + 1;
        if (differs(word[2])) return word + 2;
        if (differs(word[3])) return word + 3;
    }
}

}  // namespace

void KeptWord::add_test(const AssumptionTest& test, std::vector<KeptWord>& to) {
    using Kind = AssumptionTest::Kind;
    const auto& [first, second] = test.expected;
    if (test.kind == Kind::check) to.push_back(mark_of(test.check));
    if (test.kind == Kind::long_check) to.push_back(mark_of_long_check());
    if (test.kind == Kind::step) to.push_back(mark_of_step());
    to.push_back({test.at, first});
    if (test.kind == Kind::long_check)
        to.push_back({second, std::bit_cast<const void*>(test.check)});
    if (test.kind == Kind::step) {
        to.push_back({reinterpret_cast<const void*>(uintptr_t{test.op}),
                      std::bit_cast<const void*>(test.fetch)});
    }
}

bool set_assumptions(bool on) noexcept {
    return std::exchange(enabled, on);
}

bool assumptions_enabled() noexcept {
    return enabled;
}

Assumption::~Assumption() {
    if (armed_for_) --assumption_counts.armed;
    take_uses_back();
}

void Assumption::take_uses_back() noexcept {
    for (const DictUse& use : uses_) release_dict(*this, use);
    uses_.clear();
}

/// Without a branch per word: a large model has a thousand of them, each in a cache
/// line of its own, and the loads need not wait for each other.
bool Assumption::words_differ() const noexcept {
    uintptr_t differences = 0;
    for (const KeptWord& word : words_) {
        differences |= reinterpret_cast<uintptr_t>(word_at(word.at)) ^
                       reinterpret_cast<uintptr_t>(word.expected);
    }
    return differences != 0;
}

/// A kind's answer is the run's, because the tests before it reached its value.
/// Aligned, so that what is linked before it does not move its loop across lines of
/// code: that makes the steps of an optimizer up to 15 % slower (compare_torch.py
/// --real, sgd).
[[gnu::aligned(64)]] Assumption::Answer Assumption::run_tests(
    const Program& program, const View& view) noexcept {
    if (words_differ()) [[unlikely]]
        return give_up_words();
    const KeptWord* word = test_words_.data();
    while (true) {
        word = first_different(word);
        if (!word->is_mark()) [[unlikely]]
            return give_up(word);
        const KeptWord& first = word[1];
        if (word->is_of_check()) {
            const auto check = std::bit_cast<KindCheck>(word->expected);
            if (!check(&first.expected, first.object())) return Answer::fails;
            word += 2;
        } else if (word->is_end()) {
            return Answer::holds;
        } else if (word->is_of_long_check()) {
            const auto check = std::bit_cast<KindCheck>(word[2].expected);
            if (!check(&first.expected, first.object())) return Answer::fails;
            word += 3;
        } else {
            const auto fetch = std::bit_cast<StepFetch>(word[2].expected);
            const Op& op = program.ops()[reinterpret_cast<uintptr_t>(word[2].at)];
            if (fetch(op, view, first.object()) != first.expected) [[unlikely]]
                return give_up(word);
            word += 3;
        }
    }
}

/// Breaks the assumption: this word, or the part that this step fetches, differs.
[[gnu::cold]] Assumption::Answer Assumption::give_up(const KeptWord* word) noexcept {
    auto test = tests_.begin();
    for (const KeptWord* each = test_words_.data(); each != word; ++test) {
        each += each->length();
    }
    ++assumption_counts.found;
    if (test->kind == AssumptionTest::Kind::tag) {
        // The tag lies in the dict of one of the op's uses, which may be gone.
        for (const DictUse& use : uses_) {
            const auto place = reinterpret_cast<uintptr_t>(test->at) -
                               reinterpret_cast<uintptr_t>(use.dict);
            if (use.op == test->op && place < sizeof(PyDictObject)) {
                note_found_change(use.dict);
            }
        }
        break_by(test->op, Breach::change);
    } else {
        break_by(test->op, Breach::compare);
    }
    held_.clear();
    return Answer::unknown;
}

[[gnu::cold]] Assumption::Answer Assumption::give_up_words() noexcept {
    const auto differing = std::ranges::find_if(words_, differs);
    ++assumption_counts.found;
    break_by(word_ops_[static_cast<size_t>(differing - words_.begin())],
             Breach::compare);
    held_.clear();
    return Answer::unknown;
}

void Assumption::wait_longer() noexcept {
    if (std::chrono::steady_clock::now() - armed_at_ > long_enough) {
        wanted_passes_ = std::max(wanted_passes_ / 2, uint32_t{1});
        short_lives_ = 0;
    } else if (++short_lives_ > max_short_lives) {
        wanted_passes_ = std::min(wanted_passes_ * 2, max_wanted_passes);
    }
}

bool Assumption::break_by(uint32_t op, Breach breach) noexcept {
    if (!armed_for_) return false;
    armed_for_ = nullptr;
    told_for_ = this;
    --assumption_counts.armed;
    wait_longer();
    last_breach_ = breach;
    last_breach_op_ = op;
    return true;
}

}  // namespace guardtree
