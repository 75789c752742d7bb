// Native checks that also describe what they found: the struct that plugins share with
// guardtree.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// A capsule with one of these names points to a NativeFound instead of a function.
/// explain shows the result of `found(value, context)`: a str, or null with an
/// exception.
inline constexpr const char* native_check_found = "guardtree.native_check.found";
inline constexpr const char* native_pure_found = "guardtree.native_pure.found";

struct NativeFound {
    void* function;  ///< as in a capsule with the name without .found
    PyObject* (*found)(PyObject* value, void* context);
};

}  // namespace guardtree
