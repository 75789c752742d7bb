// Joins relations of one kind that follow one another.
// SPDX-License-Identifier: MIT
#include "relation_joiner.h"

#include <algorithm>
#include <map>

namespace guardtree {
namespace {

/// If joining some does not pay, the next attempt begins behind them.
constexpr size_t max_joined = 64;

template <JoinsRelations R>
RelationRun join(std::span<const RelationCheck> relations, References& keep) {
    RelationRun run;
    std::vector<JoinedPart<R>> parts;
    std::map<NodeId, uint16_t> numbers;
    for (const RelationCheck& each :
         relations.first(std::min(relations.size(), max_joined))) {
        if (each.relation.code() != relations.front().relation.code()) break;
        JoinedPart<R> part{each.relation.as<R>(), {}};
        const size_t known = run.nodes.size();
        for (const NodeId node : each.nodes) {
            const auto next = static_cast<uint16_t>(run.nodes.size());
            const auto [found, is_new] = numbers.insert({node, next});
            if (is_new) run.nodes.push_back(node);
            part.values.push_back(found->second);
        }
        if (run.nodes.size() > max_joined_values) {
            run.nodes.resize(known);
            break;
        }
        parts.push_back(std::move(part));
    }
    R made;
    run.count = std::max<size_t>(parts.size(), 1);
    run.pays = parts.size() > 1 && R::join_relations(parts, made, keep);
    if (run.pays) run.relation = Op(made);
    return run;
}

}  // namespace

RelationRun join_relations(std::span<const RelationCheck> relations, References& keep) {
    return dispatch(relations.front().relation, [&]<class R>(const R&) {
        if constexpr (JoinsRelations<R>) return join<R>(relations, keep);
        return RelationRun();
    });
}

}  // namespace guardtree
