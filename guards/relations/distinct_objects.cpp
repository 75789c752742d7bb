// Finds two of many values that are the same object, or that must be by their nodes.
// SPDX-License-Identifier: MIT
#include "distinct_objects.h"

#include <unordered_map>

namespace guardtree {

std::string DistinctObjects::reason(std::span<PyObject* const> values,
                                    std::span<const std::string> paths) const {
    std::unordered_map<PyObject*, size_t> first;
    for (size_t i = 0; i < values.size(); ++i) {
        const auto [at, is_new] = first.emplace(values[i], i);
        if (!is_new)
            return paths[at->second] + " and " + paths[i] + " are the same object";
    }
    return {};
}

Known DistinctObjects::known_by_nodes(std::span<const uint32_t> nodes,
                                      std::span<PyObject*>) {
    std::vector<uint32_t> sorted(nodes.begin(), nodes.end());
    std::ranges::sort(sorted);
    const bool has_twice = std::ranges::adjacent_find(sorted) != sorted.end();
    return has_twice ? Known::fails : Known::nothing;
}

}  // namespace guardtree
