// The operand of function_match: what a function was made of when the guard was built.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "operand.h"

namespace guardtree {

class FunctionRecord;

/// A plain function's code, cell contents, defaults and keyword defaults. All are held
/// weakly where they can be: the function may be the guarded one.
struct FunctionParts {
    const FunctionRecord* record = nullptr;

    static constexpr OperandForm form = OperandForm::reference;
    static constexpr const char* annotation = "FunctionType";  // in stubs
    static constexpr const char* expects = "a function written in Python";
    static bool read(PyObject* from, FunctionParts& to, References& keep,
                     Diagnostic& problem);

    /// `value` is a plain function of the same parts, by identity. No user code runs.
    bool matches(PyObject* value) const noexcept;

    /// A part died: nothing matches any more.
    bool is_dead() const noexcept;
};

bool same(FunctionParts a, FunctionParts b) noexcept;
size_t hash_of(FunctionParts a) noexcept;
std::string text_of(FunctionParts a);

/// The function that was given; None when it died.
Owned<> object_of(FunctionParts a) noexcept;

}  // namespace guardtree
