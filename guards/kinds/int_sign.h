// int_sign: the sign of an int.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct IntSign {
    static constexpr Info info{
        .name = "int_sign",
        .summary = "An int (exactly: bool fails) of any size with this sign.",
        .python = "type(value) is int and (value > 0) - (value < 0) == sign",
        .is_by_value = true,
    };
    static constexpr Example examples[] = {{"1", "3", "0"},
                                           {"0", "0", "False"},
                                           {"-1", "-2**70", "2**70"},
                                           {"1", "2**70", "True"}};

    Sign sign;

    static constexpr auto operands() {
        return std::tuple{operand("sign", &IntSign::sign)};
    }

    PyTypeObject* exact_type() const noexcept { return &PyLong_Type; }

    bool check(PyObject* value) const noexcept {
        if (!PyLong_CheckExact(value)) return false;
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow) return overflow == sign.value;
        return (number > 0) - (number < 0) == sign.value;
    }
};

}  // namespace guardtree
