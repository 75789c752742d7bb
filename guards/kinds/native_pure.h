// native_pure: the result of a C function that runs no Python code.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../operands/native_function.h"

namespace guardtree {

struct NativePure {
    static constexpr Info info{
        .name = "native_pure",
        .summary =
            "The C function in a capsule decides, as for `native`, and promises to run "
            "no Python code, to keep the GIL and to raise nothing: 1 passes, all else "
            "fails. It costs less than `native`, after which nothing that guards have "
            "read before is sure. The capsule is called guardtree.native_pure.",
        .python = "call_native(function, value)",
    };
    static constexpr Example examples[] = {{"pure_is_int", "1", "True"},
                                           {"pure_is_int", "0", "None"}};

    NativePureCheck function;

    static constexpr auto operands() {
        return std::tuple{operand("function", &NativePure::function)};
    }

    bool check(PyObject* value) const noexcept { return function(value) > 0; }
};

}  // namespace guardtree
