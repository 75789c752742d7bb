// defaults: the default values of a function.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct Defaults {
    static constexpr Info info{
        .name = "defaults",
        .summary =
            "The tuple of default values of a function written in Python; None when it "
            "has none.",
        .python = "plain_function(value).__defaults__",
    };
    static constexpr StepExample examples[] = {{"", "lambda x=3: x", "(3,)", "len"},
                                               {"", "lambda: 0", "None", "3"}};

    static constexpr auto operands() { return std::tuple{}; }

    Borrowed<> get(PyObject* value) const noexcept {
        if (!PyFunction_Check(value)) return nullptr;
        PyObject* found = reinterpret_cast<PyFunctionObject*>(value)->func_defaults;
        return found ? found : Py_None;
    }
};

}  // namespace guardtree
