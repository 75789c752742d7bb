// Converts parsed text to guards: conditions, paths, operands.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../guards/tree/tree.h"

#include "patterns.h"
#include "values.h"

namespace guardtree {

/// A kind with its operands, and the value in the text that it checks.
struct KindClaim {
    SyntaxId value = no_syntax;
    OpCode code{};
    References operands;
};

/// Reads the conditions of one text into a tree. It tries patterns in order. If none
/// matches, it reports the problem that is furthest in the text.
class TextReader {
public:
    TextReader(const TextSyntax& syntax, const TextNames& names, Tree& to)
        : syntax_(syntax), names_(names), values_(syntax, names), tree_(to) {}

    /// Returns false with both problems filled. The Diagnostic is complete on its own.
    bool run(Diagnostic& problem, TextProblem& found);

private:
    bool claim(SyntaxId id);
    bool claims(SyntaxId id);
    /// Whether the expression is `guard.<name>(...)`; `code` receives the op with that
    /// name.
    bool is_explicit(SyntaxId id, OpCode& code) const;
    bool is_presence(SyntaxId id) const;

    // Kinds.
    bool kind(SyntaxId id, KindClaim& to);
    bool fitted_kind(const TextPattern& pattern, SyntaxId id, KindClaim& to);
    bool explicit_kind(SyntaxId id, OpCode code, KindClaim& to);
    bool disjunction(SyntaxId id, KindClaim& to);
    bool is_made(SyntaxId id, const KindClaim& claim, bool is_certain = true);
    bool add_kind(SyntaxId id, const KindClaim& claim);

    // Operands.
    Owned<> constant(SyntaxId id, bool may_refer);
    Owned<> operand(OpCode code, size_t number, SyntaxId id, SyntaxId* value);
    bool fitted_operands(const TextPattern& pattern, TextFit& fit, References& to);
    bool explicit_operands(SyntaxId id, OpCode code, size_t first, References& to);
    bool make(SyntaxId id, OpCode code, const References& operands, Op& to,
              bool is_certain = true);

    // Paths: the steps, starting with the root.
    bool path(SyntaxId id, std::vector<Op>& steps);
    bool root(SyntaxId id, Owned<> name, std::vector<Op>& steps);
    bool fitted_path(const TextPattern& pattern, SyntaxId id, std::vector<Op>& steps);
    bool explicit_path(SyntaxId id, OpCode code, std::vector<Op>& steps);
    bool add_path(SyntaxId id, NodeId& to);

    // Relations.
    bool relation(SyntaxId id);
    bool identity(SyntaxId id);
    bool integers(SyntaxId id);
    bool integer_text(SyntaxId id, std::string& text);
    bool integer_leaf(SyntaxId id, std::string& text);
    bool is_marked(SyntaxId id) const;
    bool add_relation(SyntaxId id, OpCode code, const References& operands,
                      const std::vector<SyntaxId>& values, bool is_certain = true);

    /// During its lifetime, operands are kept for the tree. Otherwise they are kept
    /// only for the current condition.
    class Keeping {
    public:
        explicit Keeping(TextReader& reader) noexcept
            : reader_(reader), before_(reader.keep_) {
            reader_.keep_ = &reader.tree_.references();
        }

        ~Keeping() { reader_.keep_ = before_; }

    private:
        TextReader& reader_;
        References* before_;
    };

    bool refuse(TextProblem problem, PyObject* exception);
    bool refuse(SyntaxId id, std::string expected);
    bool refuse(SyntaxId id, const Diagnostic& reason);

    const Syntax& at(SyntaxId id) const noexcept { return syntax_[id]; }

    const TextSyntax& syntax_;
    const TextNames& names_;
    TextValues values_;
    Tree& tree_;
    References tried_;  ///< references of operands that may not be used
    References* keep_ = &tried_;
    TextProblem problem_;             ///< the furthest one in the current condition
    PyObject* exception_ = nullptr;   ///< for the problem; null means SyntaxError
    bool is_negated_ = false;         ///< inside `not`
    std::vector<SyntaxId> integers_;  ///< the values of the expression being read
};

}  // namespace guardtree
