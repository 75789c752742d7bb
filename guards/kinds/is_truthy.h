// is_truthy: the truth value, as `if` tests it.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct IsTruthy {
    static constexpr Info info{
        .name = "is_truthy",
        .summary =
            "The value counts as true: user `__bool__` and `__len__` run, and what "
            "they raise is an error. is_true asks for True itself.",
        .python = "bool(value)",
        .shorthand = "value",
        .calls_python = true,
    };
    static constexpr Example examples[] = {
        {"", "1", "0"},
        {"", "[0]", "[]"},
        {"", "type('C', (), {})()", "None"},
        {"", "'False'", "type('L', (list,), {'__len__': lambda self: 0})([1])"}};

    static constexpr auto operands() { return std::tuple{}; }

    Verdict check(PyObject* value) const noexcept {
        const int truth = PyObject_IsTrue(value);
        if (truth < 0) return Verdict::error;
        return truth ? Verdict::pass : Verdict::fail;
    }
};

}  // namespace guardtree
