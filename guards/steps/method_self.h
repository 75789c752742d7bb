// method_self: the object of a bound method.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct MethodSelf {
    static constexpr Info info{
        .name = "method_self",
        .summary =
            "The object that a method is bound to. Methods of C types have another "
            "type and fetch nothing.",
        .python = "bound_method(value).__self__",
        .reads = Reads::identity,
    };
    static constexpr StepExample examples[] = {
        {"", "__import__('types').MethodType(len, 'ab')", "'ab'", "len"},
        {"", "__import__('types').MethodType(print, 3)", "3", "[].append"}};

    static constexpr auto operands() { return std::tuple{}; }

    Borrowed<> get(PyObject* value) const noexcept {
        return PyMethod_Check(value) ? PyMethod_GET_SELF(value) : nullptr;
    }
};

}  // namespace guardtree
