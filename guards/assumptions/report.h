// What a program assumes now, for people.
// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "../tree/tree.h"

namespace guardtree {

class Program;

/// Of the assumptions that are armed. Cold.
struct AssumptionReport {
    std::vector<CheckId> assumed;  ///< checks that are not looked at, ascending
    size_t reread = 0;             ///< checks that are made each time
    size_t compared = 0;           ///< words and values that are compared each time
    /// Of those that are not: "invalidated by a change of G['cfg']".
    std::vector<std::string> invalidated;
};

AssumptionReport report_assumptions(const Program& program);

}  // namespace guardtree
