// native: a C function decides.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../operands/native_function.h"

namespace guardtree {

struct Native {
    static constexpr Info info{
        .name = "native",
        .summary =
            "The C function in a capsule decides: `int (*)(PyObject* value, void* "
            "context)`, with the capsule's context. 1 passes, 0 fails, -1 is an error "
            "with an exception set. The capsule is called guardtree.native_check.",
        .python = "call_native(function, value)",
        .calls_python = true,
    };
    static constexpr Example examples[] = {{"native_is_int", "1", "True"},
                                           {"native_is_int", "0", "None"}};

    NativeCheck function;

    static constexpr auto operands() {
        return std::tuple{operand("function", &Native::function)};
    }

    Verdict check(PyObject* value) const noexcept {
        const int answer = function(value);
        if (PyErr_Occurred()) return Verdict::error;
        if (answer >= 0) return answer ? Verdict::pass : Verdict::fail;
        PyErr_SetString(PyExc_SystemError,
                        "a native check failed without an exception");
        return Verdict::error;
    }
};

}  // namespace guardtree
