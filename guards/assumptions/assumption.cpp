// Asking an assumption, and what ends it.
// SPDX-License-Identifier: MIT
#include "assumption.h"

#include <algorithm>
#include <cstring>
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

const void* word_at(const void* at) noexcept {
    const void* word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

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

unsigned version_of(const void* type) noexcept {
    return static_cast<const PyTypeObject*>(type)->tp_version_tag;
}

/// Most tests are checks of kinds. A branch for them is faster than a jump through a
/// table.
[[gnu::always_inline]] inline bool passes(const AssumptionTest& test, const Op* ops,
                                          const View& view) noexcept {
    using Kind = AssumptionTest::Kind;
    auto* const value = static_cast<PyObject*>(const_cast<void*>(test.at));
    if (test.kind == Kind::near_check) return test.check(&test.expected, value);
    if (test.kind == Kind::check) return test.check(ops[test.op].operands(), value);
    if (test.kind == Kind::step)
        return test.fetch(ops[test.op], view, value) == test.expected;
    return version_of(test.at) == reinterpret_cast<uintptr_t>(test.expected);
}

}  // namespace

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

/// Aligned, so that its loop stays within one cache line of code. Across two, the steps
/// of an optimizer take 15 % longer (compare_torch.py --real, sgd, on Zen 3).
[[gnu::aligned(64)]] Assumption::Answer Assumption::run_tests(
    const Program& program, const View& view) noexcept {
    if (words_differ()) [[unlikely]]
        return give_up_words();
    const Op* const ops = program.ops().data();
    const KeptWord* const first = test_words_.data();
    for (const KeptWord* word = first;; ++word) {
        word = first_different(word);
        if (word->is_end()) return Answer::holds;
        const AssumptionTest* test = word->test();
        if (!test) [[unlikely]]
            return give_up(tests_[static_cast<size_t>(word - first)]);
        if (!passes(*test, ops, view)) [[unlikely]]
            return give_up(*test);
    }
}

/// A kind's answer is the run's: the tests before it reached its value. What else
/// differs breaks the assumption.
[[gnu::cold]] Assumption::Answer Assumption::give_up(
    const AssumptionTest& test) noexcept {
    if (test.is_check()) return Answer::fails;
    ++assumption_counts.found;
    if (test.kind == AssumptionTest::Kind::tag) {
        // The tag lies in the dict of one of the op's uses, which may be gone.
        for (const DictUse& use : uses_) {
            const auto place = reinterpret_cast<uintptr_t>(test.at) -
                               reinterpret_cast<uintptr_t>(use.dict);
            if (use.op == test.op && place < sizeof(PyDictObject)) {
                note_found_change(use.dict);
            }
        }
        break_by(test.op, Breach::change);
    } else {
        break_by(test.op, Breach::compare);
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
