// native_get: the result of a C function for the value.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/exception.h"
#include "../concepts/kind.h"
#include "../operands/native_function.h"

namespace guardtree {

struct NativeGet {
    static constexpr Info info{
        .name = "native_get",
        .summary =
            "What the C function in a capsule returns: `PyObject* (*)(PyObject* value, "
            "void* context)`, with the capsule's context; a new reference, null "
            "without an exception for nothing, null with one for an error. The capsule "
            "is called guardtree.native_get.",
        .python = "get_native(function, value)",
        .calls_python = true,
    };
    static constexpr StepExample examples[] = {{"native_type_of", "1", "int", ""},
                                               {"native_type_of", "'a'", "str", ""}};

    NativeGetter function;

    static constexpr auto operands() {
        return std::tuple{operand("function", &NativeGet::function)};
    }

    Owned<> get(PyObject* value) const noexcept {
        auto found = Owned<>::steal(function(value));
        if (found && PyErr_Occurred()) [[unlikely]] {
            const ExceptionPause pause;  // releasing the result may run user code
            found.reset();
        }
        return found;
    }
};

}  // namespace guardtree
