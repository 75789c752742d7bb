// Copies of guard trees: of chosen checks, or in another order.
// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "failure_counts.h"
#include "tree.h"

namespace guardtree {

/// Which checks and relations a copy has. What lies beyond the vectors is left out.
struct KeptGuards {
    std::vector<bool> checks;
    std::vector<bool> relations;
};

/// A tree with the checks and relations of `tree` that are in `kept` (null: all), and
/// with the paths that they need. With `counts` siblings are laid out fail-first, as
/// far as no user code runs between them (order.h): a program of the copy gives
/// the same answers. Numbers of nodes and checks are the copy's own. It keeps alive
/// what `tree` does. O(n); needs the GIL.
Tree copy_of(const Tree& tree, const KeptGuards* kept,
             const FailureCounts* counts = nullptr);

}  // namespace guardtree
