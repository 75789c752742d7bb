// compute: the result of a Python callable for the value.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/call_one.h"
#include "../concepts/kind.h"

namespace guardtree {

struct Compute {
    static constexpr Info info{
        .name = "compute",
        .summary = "`function(value)`. What it raises is an error.",
        .python = "function(value)",
        .calls_python = true,
    };
    static constexpr StepExample examples[] = {{"len", "'abc'", "3", ""},
                                               {"lambda v: v + 1", "1", "2", ""}};

    Callable function;

    static constexpr auto operands() {
        return std::tuple{operand("function", &Compute::function)};
    }

    Owned<> get(PyObject* value) const noexcept {
        return call_one(function.value, value);
    }
};

}  // namespace guardtree
