// int_range: lower and upper bounds of an int.
// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>

#include "../concepts/kind.h"
#include "../objects/keys.h"

namespace guardtree {

struct IntRange {
    static constexpr Info info{
        .name = "int_range",
        .summary =
            "An int (exactly: bool fails) from `low` to `high`, both included. Ints "
            "beyond 64 bits fail.",
        .python = "type(value) is int and low <= value <= high",
        .shorthand = "low <= value <= high",
        .fact = "value",
        .is_by_value = true,
    };
    static constexpr Example examples[] = {{"0, 3", "3", "4"},
                                           {"0, 3", "0", "True"},
                                           {"-2**63, 2**63 - 1", "-2**63", "2**63"},
                                           {"-1, 1", "0", "0.0"}};

    Int low;
    Int high;

    static constexpr auto operands() {
        return std::tuple{operand("low", &IntRange::low),
                          operand("high", &IntRange::high)};
    }

    PyTypeObject* exact_type() const noexcept { return &PyLong_Type; }

    Known known_by(const IntRange& passed) const noexcept {
        if (passed.low.value > high.value || passed.high.value < low.value)
            return Known::fails;
        const bool is_inside =
            passed.low.value >= low.value && passed.high.value <= high.value;
        return is_inside ? Known::passes : Known::nothing;
    }

    bool join(const IntRange& other, IntRange& both) const noexcept {
        both.low.value = std::max(low.value, other.low.value);
        both.high.value = std::min(high.value, other.high.value);
        return both.low.value <= both.high.value;
    }

    void add_keys(std::vector<Keys>& to) const {
        const int64_t digit = int64_t{1} << 30;
        if (low.value == high.value && -digit < low.value && low.value < digit) {
            // The key of an int of one digit is its value.
            to.push_back({{KeyKind::constant}, {static_cast<uint64_t>(low.value)}});
            return;
        }
        to.push_back(
            {{KeyKind::integer},
             {static_cast<uint64_t>(low.value), static_cast<uint64_t>(high.value)}});
    }

    bool check(PyObject* value) const noexcept {
        if (!PyLong_CheckExact(value)) return false;
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
        return overflow == 0 && low.value <= number && number <= high.value;
    }
};

}  // namespace guardtree
