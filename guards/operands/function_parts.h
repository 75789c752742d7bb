// The operand of function_match: the parts a function had when the guard was built.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "operand.h"

namespace guardtree {

class FunctionRecord;

/// The code, cell contents, defaults and keyword defaults of a Python function. All are
/// held weakly if possible, because the function may be the guarded one.
struct FunctionParts {
    const FunctionRecord* record = nullptr;

    static constexpr OperandForm form = OperandForm::reference;
    static constexpr const char* annotation = "FunctionType";  // in stubs
    static constexpr const char* expects = "a function written in Python";
    static bool read(PyObject* from, FunctionParts& to, References& keep,
                     Diagnostic& problem);

    /// Whether `value` is a Python function with the same parts, by identity. Runs no
    /// user code.
    bool matches(PyObject* value) const noexcept;

    /// The key of the functions that match (key_of_function).
    uint64_t key() const noexcept;

    /// Whether a part has died, so that nothing can match any more.
    bool is_dead() const noexcept;
};

/// Equal for functions with the same parts. 0 for other objects.
uint64_t key_of_function(PyObject* value) noexcept;

bool same(FunctionParts a, FunctionParts b) noexcept;
size_t hash_of(FunctionParts a) noexcept;
std::string text_of(FunctionParts a);

/// The original function, or None if it has died.
Owned<> object_of(FunctionParts a) noexcept;

}  // namespace guardtree
