// call: the result of calling the value.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct Call {
    static constexpr Info info{
        .name = "call",
        .summary =
            "The value called without arguments. A value that cannot be called fetches "
            "nothing; what the call raises is an error.",
        .python = "value()",
        .calls_python = true,
    };
    static constexpr StepExample examples[] = {{"", "list", "[]", "3"},
                                               {"", "lambda: 3", "3", "'a'"}};

    static constexpr auto operands() { return std::tuple{}; }

    Owned<> get(PyObject* value) const noexcept {
        if (!PyCallable_Check(value)) return {};
        return Owned<>::steal(PyObject_CallNoArgs(value));
    }
};

}  // namespace guardtree
