// Native checks that also say what they found: the layout that plugins share with us.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// The pointer in a capsule of such a name, instead of the function itself. explain
/// tells what `found(value, context)` gives: a str, or null with an exception.
inline constexpr const char* native_check_found = "guardtree.native_check.found";
inline constexpr const char* native_pure_found = "guardtree.native_pure.found";

struct NativeFound {
    void* function;  ///< as in a capsule of the name without .found
    PyObject* (*found)(PyObject* value, void* context);
};

}  // namespace guardtree
