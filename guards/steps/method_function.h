// method_function: the function of a bound method.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct MethodFunction {
    static constexpr Info info{
        .name = "method_function",
        .summary =
            "The function of a bound method. Methods of C types have another type and "
            "fetch nothing.",
        .python = "bound_method(value).__func__",
        .reads = Reads::identity,
    };
    static constexpr StepExample examples[] = {
        {"", "__import__('types').MethodType(len, 'ab')", "len", "len"},
        {"", "__import__('types').MethodType(print, 3)", "print", "[].append"}};

    static constexpr auto operands() { return std::tuple{}; }

    Borrowed<> get(PyObject* value) const noexcept {
        return PyMethod_Check(value) ? PyMethod_GET_FUNCTION(value) : nullptr;
    }
};

}  // namespace guardtree
