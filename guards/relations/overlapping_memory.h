// overlapping_memory: exactly the listed pairs of tensors share memory.
// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>

#include "../concepts/kind.h"
#include "../tensors/memory.h"

namespace guardtree {

struct OverlappingMemory {
    static constexpr Info info{
        .name = "overlapping_memory",
        .summary =
            "Of several tensors exactly these pairs, given by position, overlap: the "
            "extents of their memory, from the first byte to the last. () says that "
            "none do. What is no tensor, or does not tell its memory, fails it.",
        .python = "overlapping_pairs(a, b) == {(0, 1)}",
        .shorthand = "overlapping_pairs(*values) == set(pairs)",
    };
    static constexpr RelationExample examples[] = {
        {"()", "(numpy.zeros(3), numpy.zeros(3))", "(numpy.zeros(3),) * 2"},
        {"((0, 1),)", "(numpy.zeros(3),) * 2", "(numpy.zeros(3), numpy.zeros(3))"},
        {"((1, 0),)", "(lambda a: (a[:3], a[2:]))(numpy.zeros(4))",
         "(lambda a: (a[:3], a[3:]))(numpy.zeros(4))"}};

    OverlapPairs pairs;

    static constexpr auto operands() {
        return std::tuple{operand("pairs", &OverlappingMemory::pairs)};
    }

    std::string arity_problem(size_t count) const {
        const auto& all = *pairs.pairs;
        const bool is_within =
            all.empty() ||
            std::ranges::max(all, {}, &TensorPair::second).second < count;
        if (count >= 2 && count <= max_overlapping_tensors && is_within) return "";
        return "overlapping_memory needs 2 to " +
               std::to_string(max_overlapping_tensors) +
               " tensors, and pairs of their positions; " + std::to_string(count) +
               " given, with pairs " + text_of(pairs);
    }

    std::string text(std::span<const std::string> paths) const {
        std::string text = "overlapping_pairs(";
        for (size_t i = 0; i < paths.size(); ++i) text += (i ? ", " : "") + paths[i];
        return text + ") == set(" + text_of(pairs) + ")";
    }

    std::string reason(std::span<PyObject* const> values,
                       std::span<const std::string> paths) const {
        return overlap_text(values, paths);
    }

    bool check(std::span<PyObject*> values) const noexcept {
        return pairs.are_all_of(values);
    }
};

}  // namespace guardtree
