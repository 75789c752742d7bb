// complex_is_nan: a complex number with a NaN part.
// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>

#include "../concepts/kind.h"

namespace guardtree {

struct ComplexIsNan {
    static constexpr Info info{
        .name = "complex_is_nan",
        .summary = "A complex (exactly) with a NaN in either part.",
        .python = "type(value) is complex and value != value",
        .is_by_value = true,
        .is_leaf = true,
    };
    static constexpr Example examples[] = {
        {"", "complex(0, float('nan'))", "1j"},
        {"", "complex(float('nan'), 0)", "float('nan')"}};

    static constexpr auto operands() { return std::tuple{}; }

    PyTypeObject* exact_type() const noexcept { return &PyComplex_Type; }

    bool check(PyObject* value) const noexcept {
        if (!PyComplex_CheckExact(value)) return false;
        const Py_complex& number = reinterpret_cast<PyComplexObject*>(value)->cval;
        return std::isnan(number.real) || std::isnan(number.imag);
    }
};

}  // namespace guardtree
