// Copies guard trees, with chosen checks or in another order.
// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "failure_counts.h"
#include "tree.h"

namespace guardtree {

/// The checks and relations to copy. Those beyond the end of the vectors are left out.
struct KeptGuards {
    std::vector<bool> checks;
    std::vector<bool> relations;
};

/// Copies the checks and relations of `tree` that are in `kept` (null: all), and the
/// paths that they need. With `counts`, siblings are in fail-first order as far as no
/// user code runs between them (order.h). A program of the copy gives the same
/// verdicts. Nodes and checks are numbered from scratch. The copy keeps the same
/// objects alive as `tree`. O(n); needs the GIL.
Tree copy_of(const Tree& tree, const KeptGuards* kept,
             const FailureCounts* counts = nullptr);

/// Adds all guards of `tree` to `to`, which keeps the same objects alive. A guard that
/// `to` has already keeps its note. `note`, if not null, is put on guards of `tree`
/// that have none. False, with `problem` filled and
/// a part added, if there is no room for all paths. O(n); needs the GIL.
bool include(const Tree& tree, PyObject* note, Tree& to, Diagnostic& problem);

}  // namespace guardtree
