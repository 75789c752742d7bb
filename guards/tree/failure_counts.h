// How often the guards of a tree failed.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <vector>

namespace guardtree {

/// How often each node's step and each check did not pass. Fail-first order uses it.
/// Missing elements count as zero.
struct FailureCounts {
    std::vector<uint64_t> nodes;
    std::vector<uint64_t> checks;
};

}  // namespace guardtree
