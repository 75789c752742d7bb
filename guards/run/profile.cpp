// Counts and times each op of a walk.
// SPDX-License-Identifier: MIT
//
// How time is measured. The clock is read before each op and once after the walk. The
// time between two readings belongs to the op between them, and includes the cost of
// one reading. That cost is measured once per process and subtracted from the sums, not
// from each op. So an op that is too short for the clock is still right on average.
#include "profile.h"

#include <algorithm>
#include <chrono>

#include "user_code.h"
#include "walk.h"

namespace guardtree {
namespace {

using Clock = std::chrono::steady_clock;

uint64_t ns_between(Clock::time_point from, Clock::time_point to) noexcept {
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count());
}

/// Takes the shortest of several runs, because other load only adds time.
double measure_clock() noexcept {
    constexpr int readings = 200;
    double shortest = 1e9;
    for (int run = 0; run < 20; ++run) {
        const Clock::time_point start = Clock::now();
        Clock::time_point last = start;
        for (int i = 0; i < readings; ++i) last = Clock::now();
        shortest =
            std::min(shortest, static_cast<double>(ns_between(start, last)) / readings);
    }
    return shortest;
}

class Counter {
public:
    static constexpr bool goes_on = false;
    static constexpr bool hears_each = true;

    Counter(const Op* first, OpCount* counts) noexcept
        : first_(first), counts_(counts) {}

    void runs(const Op& op) noexcept {
        const Clock::time_point now = Clock::now();
        close(now);
        current_ = nullptr;
        if (!op.is_internal()) {
            current_ = counts_ + (&op - first_);
            ++current_->executed;
        }
        started_ = now;
    }

    void did_not_pass(const Op&, std::span<PyObject* const>, Verdict verdict,
                      Owned<>&) noexcept {
        ++(verdict == Verdict::error ? current_->errors : current_->failed);
    }

    /// Called after the walk. `raised`: an exception is pending that the walk did not
    /// report.
    void finish(bool raised) noexcept {
        if (!current_) return;
        close(Clock::now());
        if (raised) ++current_->errors;
    }

private:
    void close(Clock::time_point now) noexcept {
        if (current_) current_->gross_ns += ns_between(started_, now);
    }

    const Op* first_;
    OpCount* counts_;
    OpCount* current_ = nullptr;
    Clock::time_point started_;
};

/// Extends the vector to `id` and adds to its count.
void add(std::vector<uint64_t>& counts, uint32_t id, uint64_t more) {
    if (counts.size() <= id) counts.resize(size_t{id} + 1);
    counts[id] += more;
}

}  // namespace

Verdict Profile::check(const Program& program, const View& view, PyObject** values,
                       Owned<>& error) {
    Counter counter(program.ops().data(), counts_.data());
    ++checks_;
    const auto walk_on = [&](const View& over) {
        return walk(program, over, values, error, counter);
    };
    const Verdict verdict =
        program.calls_python() ? with_user_code(view, walk_on) : walk_on(view);
    counter.finish(PyErr_Occurred() != nullptr);
    if (verdict == Verdict::pass) ++passed_;
    return verdict;
}

uint64_t Profile::net_ns(size_t number) const noexcept {
    const OpCount& count = counts_[number];
    const double clock = clock_ns() * static_cast<double>(count.executed);
    const double gross = static_cast<double>(count.gross_ns);
    return gross > clock ? static_cast<uint64_t>(gross - clock) : 0;
}

FailureCounts Profile::failures(const Program& program) const {
    FailureCounts found;
    for (size_t i = 0; i < counts_.size(); ++i) {
        const Op& op = program.ops()[i];
        const uint64_t times = counts_[i].failed + counts_[i].errors;
        if (op.is_step()) add(found.nodes, op.id, times);
        if (op.is_kind()) add(found.checks, op.id, times);
    }
    return found;
}

double Profile::clock_ns() noexcept {
    static const double measured = measure_clock();
    return measured;
}

}  // namespace guardtree
