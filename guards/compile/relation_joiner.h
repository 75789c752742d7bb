// Joins relations that follow one another.
// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <vector>

#include "../tree/tree.h"

namespace guardtree {

/// Relations in a row.
struct RelationRun {
    size_t count = 1;           ///< at least one
    bool pays = false;          ///< a joined relation decides them
    Op relation = {};           ///< the joined one
    std::vector<NodeId> nodes;  ///< its values, each once
};

/// The run that begins with the first of `relations`. `keep` holds what the joined
/// relation refers to. O(n log n) in the nodes of the run.
RelationRun join_relations(std::span<const RelationCheck> relations, References& keep);

}  // namespace guardtree
