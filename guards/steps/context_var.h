// context_var: the value of a context variable.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct ContextVar {
    static constexpr Info info{
        .name = "context_var",
        .summary =
            "The value of a contextvars.ContextVar in the current context, or its "
            "default; fetches nothing where it has neither.",
        .python = "variable.get()",
    };
    static constexpr StepExample examples[] = {
        {"__import__('contextvars').ContextVar('v', default=3)", "{}", "3", ""},
        {"__import__('contextvars').ContextVar('w', default='a')", "{}", "'a'", ""}};

    Variable variable;

    static constexpr auto operands() {
        return std::tuple{operand("variable", &ContextVar::variable)};
    }

    Owned<> get(const View&) const noexcept {
        PyObject* found = nullptr;
        if (PyContextVar_Get(variable.value, nullptr, &found) < 0) PyErr_Clear();
        return Owned<>::steal(found);
    }
};

}  // namespace guardtree
