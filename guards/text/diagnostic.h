// Why something was refused.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <string>

namespace guardtree {

/// Why an operand, a path or a tree was refused: what was expected, what was found,
/// what to do. `exception` is the Python class that fits (borrowed, a builtin).
struct Diagnostic {
    PyObject* exception = nullptr;
    std::string message;

    explicit operator bool() const noexcept { return exception != nullptr; }
};

/// Fills `problem` with the standard sentence of an operand that was refused.
void refuse_operand(Diagnostic& problem, const char* expects, PyObject* found);

}  // namespace guardtree
