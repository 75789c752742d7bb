// float_is_nan: a float that is NaN.
// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>

#include "../concepts/kind.h"

namespace guardtree {

struct FloatIsNan {
    static constexpr Info info{
        .name = "float_is_nan",
        .summary = "A float (exactly) that is a NaN of any bits.",
        .python = "type(value) is float and value != value",
        .is_by_value = true,
        .is_leaf = true,
    };
    static constexpr Example examples[] = {
        {"", "float('nan')", "1.0"},
        {"", "-float('nan')", "float('inf')"},
        {"", "float('inf') * 0", "complex(float('nan'), 0)"}};

    static constexpr auto operands() { return std::tuple{}; }

    PyTypeObject* exact_type() const noexcept { return &PyFloat_Type; }

    bool check(PyObject* value) const noexcept {
        return PyFloat_CheckExact(value) && std::isnan(PyFloat_AS_DOUBLE(value));
    }
};

}  // namespace guardtree
