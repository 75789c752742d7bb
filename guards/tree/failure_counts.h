// How often guards of a tree failed.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <vector>

namespace guardtree {

/// How often each node's step and each check did not pass: what fail-first ordering
/// goes by. Shorter vectors mean zero.
struct FailureCounts {
    std::vector<uint64_t> nodes;
    std::vector<uint64_t> checks;
};

}  // namespace guardtree
