// From parsed text to guards: claims, paths, operands.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../guards/tree/tree.h"

#include "patterns.h"
#include "values.h"

namespace guardtree {

/// A kind with its operands on a value of the text.
struct KindClaim {
    SyntaxId value = no_syntax;
    OpCode code{};
    References operands;
};

/// Reads the claims of one text into a tree. Patterns are tried in order; when none is
/// right, the problem that lies furthest in the text is told.
class TextReader {
public:
    TextReader(const TextSyntax& syntax, const TextNames& names, Tree& to)
        : syntax_(syntax), names_(names), values_(syntax, names), tree_(to) {}

    /// False with both problems filled: the Diagnostic says it all.
    bool run(Diagnostic& problem, TextProblem& found);

private:
    bool claim(SyntaxId id);
    bool claims(SyntaxId id);
    /// For `guard.<name>(...)`: the op of that name.
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

    // Paths: steps from the root on.
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

    /// While it lives, operands are kept for the tree; else only for the claim.
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
    References tried_;  ///< what operands refer to that may come to nothing
    References* keep_ = &tried_;
    TextProblem problem_;             ///< the furthest since the claim began
    PyObject* exception_ = nullptr;   ///< of the problem; null: SyntaxError
    bool is_negated_ = false;         ///< inside of `not`
    std::vector<SyntaxId> integers_;  ///< the values of the expression being read
};

}  // namespace guardtree
