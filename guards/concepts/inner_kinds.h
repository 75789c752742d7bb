// Operands of not_ and any_of: kinds that have operands of their own.
// SPDX-License-Identifier: MIT
//
// In Python an inner kind is a tuple of its name and its operands: `("is_none",)`,
// `("type_match", int)`. They nest at most 32 deep: `("not_", ("is_none",))`.
#pragma once
#include <Python.h>

#include "kind.h"

namespace guardtree {

class KindList;
class Op;

/// Kinds in order. The References of the outer op keep them alive.
struct InnerKinds {
    const KindList* list = nullptr;

    static constexpr OperandForm form = OperandForm::kinds;
    static constexpr const char* annotation = "tuple[tuple[Any, ...], ...]";
    static constexpr const char* expects =
        "a tuple of kinds with their operands, like ((\"is_none\",), (\"type_match\", "
        "int))";
    static bool read(PyObject* from, InnerKinds& to, References& keep,
                     Diagnostic& problem);

    /// Tries the kinds in order. Returns the verdict of the first one that does not
    /// fail, or fail if all of them fail.
    Verdict first_not_failing(PyObject* value) const noexcept;

    /// Adds the keys of values that one of the kinds may pass, of those key kinds that
    /// all of them have.
    void add_keys(std::vector<Keys>& to) const;

    /// The kinds as ops, in order. They live as long as this operand's References.
    std::span<const Op> ops() const noexcept;

    /// The kinds as a Python expression over `value`: "(x is None or type(x) is int)".
    std::string python(const std::string& value) const;
};

/// One kind.
struct InnerKind : InnerKinds {
    static constexpr const char* annotation = "tuple[Any, ...]";
    static constexpr const char* expects =
        "a kind with its operands, like (\"type_match\", int)";
    static bool read(PyObject* from, InnerKind& to, References& keep,
                     Diagnostic& problem);
};

bool same(InnerKinds a, InnerKinds b) noexcept;
size_t hash_of(InnerKinds a) noexcept;

/// As written in a call: "(('is_none',), ('type_match', int))".
std::string text_of(InnerKinds a);
std::string text_of(InnerKind a);

Owned<> object_of(InnerKinds a) noexcept;
Owned<> object_of(InnerKind a) noexcept;

}  // namespace guardtree
