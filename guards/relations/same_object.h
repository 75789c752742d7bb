// same_object: all values are the same object.
// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>

#include "../concepts/kind.h"

namespace guardtree {

struct SameObject {
    static constexpr Info info{
        .name = "same_object",
        .summary = "Two or more values are the same object.",
        .python = "a is b",
    };
    static constexpr RelationExample examples[] = {
        {"", "(None, None)", "(None, 0)"},
        {"", "(len, len, len)", "(len, len, print)"}};

    static constexpr auto operands() { return std::tuple{}; }

    static std::string arity_problem(size_t count) {
        return count >= 2 ? "" : "same_object needs at least two values";
    }

    static std::string text(std::span<const std::string> paths) {
        std::string text;
        for (const std::string& path : paths)
            text += (text.empty() ? "" : " is ") + path;
        return text;
    }

    std::string reason(std::span<PyObject* const> values,
                       std::span<const std::string> paths) const {
        size_t other = 1;
        while (other + 1 < values.size() && values[other] == values[0]) ++other;
        return paths[0] + " and " + paths[other] + " are different objects";
    }

    static Known known_by_nodes(std::span<const uint32_t> nodes,
                                std::span<PyObject*>) {
        const bool is_one = std::ranges::count(nodes, nodes[0]) == std::ssize(nodes);
        return is_one ? Known::passes : Known::nothing;
    }

    bool check(std::span<PyObject*> values) const noexcept {
        return std::ranges::all_of(values,
                                   [&](PyObject* each) { return each == values[0]; });
    }
};

}  // namespace guardtree
