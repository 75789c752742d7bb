// Evaluates operands in text: literals, and objects by name.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../../framelocals/views/view.h"
#include "../../guards/operands/operand.h"

#include "syntax.h"

namespace guardtree {

/// The namespaces for names in a text: the given names, then the scope's globals and
/// builtins, then imported modules. All borrowed.
struct TextNames {
    Scope scope;
    PyObject* given = nullptr;  ///< a dict of str to objects, or null

    /// If false, guards that would call an object named in the text are refused
    /// (calls_chosen_code).
    bool allow_calls = true;
};

/// Evaluates parts of a text. It imports nothing and runs no user code.
class TextValues {
public:
    TextValues(const TextSyntax& syntax, const TextNames& names) noexcept
        : syntax_(syntax), names_(names) {}

    /// Evaluates a constant expression: literals, displays of them, `nan`, `inf`,
    /// `complex(...)`, `frozenset(...)`, `range(...)`, sums, and given names.
    /// TensorSpec(...) gives a dict. With `may_refer`, it may also contain names of
    /// objects. Null with `problem` filled.
    Owned<> constant(SyntaxId id, bool may_refer, TextProblem& problem) const;

    /// The object for a name such as `int`, `collections.OrderedDict` or a given name.
    /// Null with `problem` filled.
    Owned<> reference(SyntaxId id, TextProblem& problem) const;

    /// The object given for a name, or null. Borrowed.
    PyObject* given(std::string_view name) const;

private:
    Owned<> number(SyntaxId id, TextProblem& problem) const;
    Owned<> computed(SyntaxId id, TextProblem& problem) const;
    Owned<> called(SyntaxId id, TextProblem& problem) const;
    Owned<> facts(SyntaxId id, TextProblem& problem) const;
    Owned<> dict(SyntaxId id, TextProblem& problem) const;
    bool parts(SyntaxId id, size_t first, bool may_refer, References& to,
               TextProblem& problem) const;
    Owned<> refused(SyntaxId id, std::string expected, TextProblem& problem) const;
    Owned<> made(SyntaxId id, PyObject* object, TextProblem& problem) const;
    bool is_variable(std::string_view name) const;
    bool is_named_by(std::string_view name, PyObject* object) const;
    Owned<> find_root(std::string_view name) const;
    bool dotted(SyntaxId id, std::vector<std::string_view>& names) const;

    const TextSyntax& syntax_;
    const TextNames& names_;
};

/// The str or bytes of string literals as written, side by side. Null with `problem`
/// saying what is wrong with them.
Owned<> string_of(std::string_view literals, std::string& problem);

/// None, True, False: words of Python that are values.
constexpr bool is_literal_name(std::string_view word) noexcept {
    return word == "None" || word == "True" || word == "False";
}

/// What is between the quotes of one literal without a prefix and escapes; the same
/// text otherwise.
std::string_view plain_string(std::string_view literal) noexcept;

}  // namespace guardtree
