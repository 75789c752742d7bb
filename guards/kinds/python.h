// python: a Python callable decides.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/call_one.h"
#include "../concepts/kind.h"

namespace guardtree {

struct Python {
    static constexpr Info info{
        .name = "python",
        .summary =
            "`predicate(value)` is true. The one kind that runs Python code of the "
            "user's; on the root it gets the locals as a dict. An exception makes "
            "the verdict error: the guard fails and explain tells.",
        .python = "predicate(value)",
        .calls_python = true,
    };
    static constexpr Example examples[] = {{"lambda v: v > 2", "3", "1"},
                                           {"callable", "len", "3"}};

    Callable predicate;

    static constexpr auto operands() {
        return std::tuple{operand("predicate", &Python::predicate)};
    }

    Verdict check(PyObject* value) const noexcept {
        const auto result = call_one(predicate.value, value);
        if (result.get() == Py_True) [[likely]]
            return Verdict::pass;
        const int truth = result ? PyObject_IsTrue(result.get()) : -1;
        if (truth < 0) return Verdict::error;
        return truth ? Verdict::pass : Verdict::fail;
    }
};

}  // namespace guardtree
