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

    static PyObject* const* place_of_child(PyObject* function) noexcept {
        return &reinterpret_cast<PyFunctionObject*>(function)->func_code;
    }

    Borrowed<> get(PyObject* value) const noexcept {
        return PyFunction_Check(value) ? *place_of_child(value) : nullptr;
    }
};

}  // namespace guardtree
