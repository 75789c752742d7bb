// Asking an assumption, and what ends it.
// SPDX-License-Identifier: MIT
#include "assumption.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "../fetch.h"
#include "../program.h"

namespace guardtree {
namespace {

/// Passes in a row from the same start that arm again, at most.
constexpr uint32_t most_wanted_passes = 1u << 16;

/// Arming again at once is worth trying so often.
constexpr uint32_t most_short_lives = 4;

/// What held for so long was worth arming.
constexpr auto long_enough = std::chrono::milliseconds(10);

bool enabled = true;

bool passes(const AssumptionTest& test, const Program& program,
            const View& view) noexcept {
    switch (test.sort) {
    case AssumptionTest::Sort::word:
    case AssumptionTest::Sort::tag: {
        const void* word;
        std::memcpy(&word, test.at, sizeof word);
        return word == test.expected;
    }
    case AssumptionTest::Sort::step:
        return follow_step(program.ops()[test.op], view,
                           static_cast<PyObject*>(const_cast<void*>(test.at))) ==
               test.expected;
    case AssumptionTest::Sort::kind:
        return passes_kind(program.ops()[test.op],
                           static_cast<PyObject*>(const_cast<void*>(test.at)));
    }
    __builtin_unreachable();
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

Assumption::Answer Assumption::run_tests(const Program& program,
                                         const View& view) noexcept {
    const AssumptionTest* const end = tests_.data() + tests_.size();
    for (const AssumptionTest* test = tests_.data(); test != end; ++test) {
        if (!passes(*test, program, view)) [[unlikely]]
            return give_up(*test);
    }
    return Answer::holds;
}

/// A kind's answer is the run's: the tests before it reached its value. What else
/// differs breaks the assumption.
[[gnu::cold]] Assumption::Answer Assumption::give_up(
    const AssumptionTest& test) noexcept {
    if (test.sort == AssumptionTest::Sort::kind) return Answer::fails;
    ++assumption_counts.found;
    if (test.sort == AssumptionTest::Sort::tag) {
        // The tag's dict is that of the use: the dict may be gone.
        for (const DictUse& use : uses_) {
            if (use.op == test.op) note_found_change(use.dict);
        }
        break_by(test.op, Breach::change);
    } else {
        break_by(test.op, Breach::compare);
    }
    held_.clear();
    return Answer::unknown;
}

void Assumption::wait_longer() noexcept {
    if (std::chrono::steady_clock::now() - armed_at_ > long_enough) {
        wanted_passes_ = std::max(wanted_passes_ / 2, uint32_t{1});
        short_lives_ = 0;
    } else if (++short_lives_ > most_short_lives) {
        wanted_passes_ = std::min(wanted_passes_ * 2, most_wanted_passes);
    }
}

bool Assumption::break_by(uint32_t op, Breach breach) noexcept {
    if (!armed_for_) return false;
    armed_for_ = nullptr;
    --assumption_counts.armed;
    wait_longer();
    last_breach_ = breach;
    last_breach_op_ = op;
    return true;
}

}  // namespace guardtree
