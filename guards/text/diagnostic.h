// Reasons for a refusal.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <string>

namespace guardtree {

/// Why an operand, a path or a tree was refused: what was expected, what was found and
/// what to do. `exception` is the matching Python exception class (borrowed, a
/// builtin).
struct Diagnostic {
    PyObject* exception = nullptr;
    std::string message;

    explicit operator bool() const noexcept { return exception != nullptr; }
};

/// Fills `problem` with the standard message for a refused operand.
void refuse_operand(Diagnostic& problem, const char* expects, PyObject* found);

}  // namespace guardtree
