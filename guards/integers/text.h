// The operand of the relation `integers`: an integer expression.
// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "../operands/operand.h"

#include "expression.h"

namespace guardtree {

/// An expression written as text (expression.h). The expression is in a capsule among
/// the references.
struct IntegerText {
    const IntegerExpression* value = nullptr;

    static constexpr const char* annotation = "str";  // in stubs
    static constexpr const char* expects =
        "an integer expression (str), such as '0 < x <= 64' or 'len(xs) % 8 == 0'";
    static bool read(PyObject* from, IntegerText& to, References& keep,
                     Diagnostic& problem);

    /// Takes an expression that exists already. Returns false if there is no memory to
    /// keep it.
    static bool hold(std::unique_ptr<IntegerExpression> made, IntegerText& to,
                     References& keep, Diagnostic& problem);
};

inline bool same(IntegerText a, IntegerText b) noexcept {
    return a.value->source() == b.value->source();
}

inline size_t hash_of(IntegerText a) noexcept {
    return std::hash<std::string>{}(a.value->source());
}

inline std::string text_of(IntegerText a) {
    return "'" + a.value->source() + "'";
}

Owned<> object_of(IntegerText a) noexcept;

}  // namespace guardtree
