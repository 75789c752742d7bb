// Profiles a program: the same walk as a check, with an observer that counts and times
// each op.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "../program/program.h"

namespace guardtree {

/// The counters of one op of a program.
struct OpCount {
    uint64_t executed = 0;
    uint64_t failed = 0;  ///< did not pass, without raising
    uint64_t errors = 0;  ///< raised, including exceptions that must reach the program
    uint64_t gross_ns = 0;  ///< includes one clock reading per execution
};

/// Counters of one program. They are opt-in and stored beside the program, so the
/// program stays immutable and `evaluate` does not pay for them. A walk stops at the
/// same op as a check does, so the counts are those of checks. Blocks are walked op by
/// op. Needs the GIL. A walk inside a walk counts in both.
class Profile {
public:
    /// The first profile in a process measures the clock: about 100 us.
    explicit Profile(const Program& program) : counts_(program.ops().size()) {}

    /// Evaluates the program that this profile was made for, and counts. One clock
    /// reading per op slower than evaluate.
    Verdict check(const Program& program, const View& view, PyObject** values,
                  Owned<>& error);

    /// Indexed by the number of the op.
    std::span<const OpCount> counts() const noexcept { return counts_; }

    /// The op's time without the cost of the clock; never negative.
    uint64_t net_ns(size_t number) const noexcept;

    uint64_t checks() const noexcept { return checks_; }

    uint64_t passed() const noexcept { return passed_; }

    /// How often steps and checks did not pass, for Program::compile and copy_of.
    /// Indexed by the ids of the program's tree.
    FailureCounts failures(const Program& program) const;

    /// The cost of one clock reading in ns, as measured in this process.
    static double clock_ns() noexcept;

private:
    std::vector<OpCount> counts_;  ///< never resized: walks point into it
    uint64_t checks_ = 0;
    uint64_t passed_ = 0;
};

}  // namespace guardtree
