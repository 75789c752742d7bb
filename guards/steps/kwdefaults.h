// kwdefaults: the keyword-only default values of a function.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct Kwdefaults {
    static constexpr Info info{
        .name = "kwdefaults",
        .summary =
            "The dict of keyword-only default values of a function written in Python; "
            "None when it has none.",
        .python = "plain_function(value).__kwdefaults__",
    };
    static constexpr StepExample examples[] = {
        {"", "lambda *, x=3: x", "{'x': 3}", "len"}, {"", "lambda: 0", "None", "int"}};

    static constexpr auto operands() { return std::tuple{}; }

    Borrowed<> get(PyObject* value) const noexcept {
        if (!PyFunction_Check(value)) return nullptr;
        PyObject* found = reinterpret_cast<PyFunctionObject*>(value)->func_kwdefaults;
        return found ? found : Py_None;
    }
};

}  // namespace guardtree
