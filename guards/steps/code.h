// code: the code of a function.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct Code {
    static constexpr Info info{
        .name = "code",
        .summary = "The code object of a function written in Python.",
        .python = "plain_function(value).__code__",
    };
    static constexpr StepExample examples[] = {
        {"", "__import__('os').getenv", "__import__('os').getenv.__code__", "len"},
        {"", "__import__('os').makedirs", "__import__('os').makedirs.__code__",
         "type('F', (), {'__code__': 1})()"}};

    static constexpr auto operands() { return std::tuple{}; }

    Borrowed<> get(PyObject* value) const noexcept {
        if (!PyFunction_Check(value)) return nullptr;
        return reinterpret_cast<PyFunctionObject*>(value)->func_code;
    }
};

}  // namespace guardtree
