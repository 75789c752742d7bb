// Profiling: the same walk as a check, with an observer that counts and times each op.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "../program/program.h"

namespace guardtree {

/// What happened at one op of a program.
struct OpCount {
    uint64_t executed = 0;
    uint64_t failed = 0;    ///< did not pass, and raised nothing
    uint64_t errors = 0;    ///< raised, the exceptions that were let through included
    uint64_t gross_ns = 0;  ///< one reading of the clock for each execution included
};

/// Counters of one program: opt-in, kept beside it, so the program stays immutable and
/// `evaluate` knows nothing of them. A walk stops where a check does, so the numbers
/// are those of checks; item blocks are walked item by item. Needs the GIL; a walk
/// inside a walk counts in both.
class Profile {
public:
    /// Measures the clock when it is the first in the process: about 100 us.
    explicit Profile(const Program& program) : counts_(program.ops().size()) {}

    /// What evaluate does with the program that this was made for, counted. One clock
    /// reading per op slower.
    Verdict check(const Program& program, const View& view, PyObject** values,
                  Owned<>& error);

    /// By number of the op.
    std::span<const OpCount> counts() const noexcept { return counts_; }

    /// The op's time without the clock's; not below zero.
    uint64_t net_ns(size_t number) const noexcept;

    uint64_t checks() const noexcept { return checks_; }

    uint64_t passed() const noexcept { return passed_; }

    /// How often steps and checks did not pass, for Program::compile and copy_of.
    /// Numbers are those of the program's tree.
    FailureCounts failures(const Program& program) const;

    /// What one reading of the clock takes, in ns, as measured in this process.
    static double clock_ns() noexcept;

private:
    std::vector<OpCount> counts_;  ///< never resized: walks point into it
    uint64_t checks_ = 0;
    uint64_t passed_ = 0;
};

}  // namespace guardtree
