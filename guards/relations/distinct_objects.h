// distinct_objects: no two values are the same object.
// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "../concepts/kind.h"

namespace guardtree {

struct DistinctObjects {
    static constexpr Info info{
        .name = "distinct_objects",
        .summary = "Of two or more values no two are the same object (no aliasing).",
        .python = "distinct_objects(a, b)",
        .shorthand = "distinct_objects(*values)",
    };
    static constexpr RelationExample examples[] = {
        {"", "(None, 0)", "(None, None)"},
        {"", "(len, print, 1, 1.0)", "(len, print, 1, len)"},
        {"", "tuple(range(40))", "tuple(range(40)) + (0,)"}};

    static constexpr auto operands() { return std::tuple{}; }

    static std::string arity_problem(size_t count) {
        return count >= 2 ? "" : "distinct_objects needs at least two values";
    }

    static std::string text(std::span<const std::string> paths) {
        std::string text = "distinct_objects(";
        for (size_t i = 0; i < paths.size(); ++i) text += (i ? ", " : "") + paths[i];
        return text + ")";
    }

    std::string reason(std::span<PyObject* const> values,
                       std::span<const std::string> paths) const;

    static Known known_by_nodes(std::span<const uint32_t> nodes, std::span<PyObject*>);

    bool check(std::span<PyObject*> values) const noexcept {
        if (values.size() == 2) return values[0] != values[1];
        constexpr size_t few = 12;  // up to here, comparing pairs is cheaper than a set
        if (values.size() > few) {
            if (values.size() <= 64) return are_new_to_set<128>(values);
            if (values.size() <= 128) return are_new_to_set<256>(values);
            if (values.size() <= 512) return are_new_to_set<1024>(values);
            std::ranges::sort(values, std::less<>());
            return std::ranges::adjacent_find(values) == values.end();
        }
        for (size_t i = 1; i < values.size(); ++i) {
            for (size_t j = 0; j < i; ++j) {
                if (values[i] == values[j]) return false;
            }
        }
        return true;
    }

    /// Adds each value to a set of addresses that has room for twice as many. Takes a
    /// third of the time of sorting (bench/compare_torch.py, a list of 100 tensors).
    template <size_t room>
    [[gnu::noinline]] static bool are_new_to_set(
        std::span<PyObject* const> values) noexcept {
        PyObject* set[room] = {};
        for (PyObject* value : values) {
            constexpr uint64_t golden_ratio = 0x9e3779b97f4a7c15;
            size_t at = reinterpret_cast<uintptr_t>(value) * golden_ratio >>
                        (64 - std::countr_zero(room));
            while (set[at]) {
                if (set[at] == value) return false;
                at = (at + 1) % room;
            }
            set[at] = value;
        }
        return true;
    }
};

}  // namespace guardtree
