// exists: the path leads to a value.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct Exists {
    static constexpr Info info{
        .name = "exists",
        .summary =
            "There is a value: the local is bound, and each step finds "
            "something. Any value passes. A step without a check is not "
            "evaluated, so say this where nothing else is guarded.",
        .python = "exists(value)",
        .is_by_value = true,
        .is_leaf = true,
        .reads = Reads::identity,
    };
    static constexpr Example examples[] = {{"", "None", ""}};

    static constexpr auto operands() { return std::tuple{}; }

    static Known known_by_type(PyTypeObject*) noexcept { return known_to(true); }

    static bool check(PyObject*) noexcept { return true; }
};

}  // namespace guardtree
