// is_false: identity with False.
// SPDX-License-Identifier: MIT
#pragma once
#include "../kind.h"

namespace guardtree {

struct IsFalse {
    static constexpr Info info{
        .name = "is_false",
        .summary = "The value is False itself; other false values fail.",
        .python = "value is False",
        .is_leaf = true,
    };
    static constexpr Example examples[] = {{"", "False", "0"}};

    static constexpr auto operands() { return std::tuple{}; }

    bool check(PyObject* value) const noexcept { return value == Py_False; }
};

}  // namespace guardtree
