// function_globals: the globals of a function.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct FunctionGlobals {
    static constexpr Info info{
        .name = "function_globals",
        .summary = "The dict of globals of a function written in Python.",
        .python = "plain_function(value).__globals__",
        .reads = Reads::identity,
    };
    static constexpr StepExample examples[] = {
        {"", "eval('lambda: 0', {'__builtins__': {}})", "{'__builtins__': {}}", "len"},
        {"", "eval('lambda: 0', {'__builtins__': {}, 'a': 1})",
         "{'__builtins__': {}, 'a': 1}", "None"}};

    static constexpr auto operands() { return std::tuple{}; }

    Borrowed<> get(PyObject* value) const noexcept {
        if (!PyFunction_Check(value)) return nullptr;
        return reinterpret_cast<PyFunctionObject*>(value)->func_globals;
    }
};

}  // namespace guardtree
