// is_not_none: any object except None.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct IsNotNone {
    static constexpr Info info{
        .name = "is_not_none",
        .summary = "The value is anything but None.",
        .python = "value is not None",
        .fact = "value",
        .is_by_value = true,
        .is_leaf = true,
        .reads = Reads::identity,
    };
    static constexpr Example examples[] = {{"", "0", "None"}};

    static constexpr auto operands() { return std::tuple{}; }

    static Known known_by_type(PyTypeObject* type) noexcept {
        return known_to(type != Py_TYPE(Py_None));
    }

    bool check(PyObject* value) const noexcept { return value != Py_None; }
};

}  // namespace guardtree
