// divisible_by: an int is a multiple of a number.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct DivisibleBy {
    static constexpr Info info{
        .name = "divisible_by",
        .summary =
            "An int (exactly: bool fails) of at most 64 bits that `divisor` divides.",
        .python =
            "type(value) is int and -(2**63) <= value < 2**63 and value % divisor == 0",
        .shorthand = "value % divisor == 0",
        .is_by_value = true,
    };
    static constexpr Example examples[] = {{"4", "8", "6"},
                                           {"4", "0", "False"},
                                           {"-3", "9", "10"},
                                           {"1", "-2**63", "2**63"},
                                           {"-1", "-2**63", "1.0"}};

    Divisor divisor;

    static constexpr auto operands() {
        return std::tuple{operand("divisor", &DivisibleBy::divisor)};
    }

    PyTypeObject* exact_type() const noexcept { return &PyLong_Type; }

    bool check(PyObject* value) const noexcept {
        if (!PyLong_CheckExact(value)) return false;
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow) return false;
        // INT64_MIN divided by -1 overflows.
        return divisor.value == -1 || number % divisor.value == 0;
    }
};

}  // namespace guardtree
