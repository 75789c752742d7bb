// Compiles the syntax tree of an integer expression to instructions.
// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <vector>

#include "expression.h"

namespace guardtree {

/// Emits the instructions of one expression.
class IntegerCompiler {
public:
    IntegerCompiler(const std::vector<IntegerSyntax>& syntax, IntegerExpression& to)
        : syntax_(syntax), to_(to), kept_(syntax.size(), -1) {}

    /// Returns false if the expression needs a deeper stack than there is.
    bool compile(int root);

    /// The same for an expression that is true where all roots are. A node that has
    /// several uses is evaluated once, if nothing before it can skip it.
    bool compile_all(std::span<const int> roots, std::vector<int> uses);

private:
    using Code = IntegerExpression::Code;
    using Mode = IntegerExpression::Mode;

    const IntegerSyntax& at(int index) const {
        return syntax_[static_cast<size_t>(index)];
    }

    /// The number of a node's kept result, or -1.
    int kept(int index) const { return kept_[static_cast<size_t>(index)]; }

    bool should_keep(int index) const;
    bool is_at_hand(int index) const;
    void emit(Code code, Mode mode, int source = 0, int64_t constant = 0);
    void emit_with(Code code, int operand);
    void number(int index, bool keeps_accumulator);
    void operation(const IntegerSyntax& node, bool keeps_accumulator);
    void claim(int index);
    void logic(const IntegerSyntax& node);

    /// Lets an instruction skip all that was emitted since.
    void skip_from(size_t place);

    const std::vector<IntegerSyntax>& syntax_;
    IntegerExpression& to_;
    std::vector<int> kept_;
    std::vector<int> uses_;  ///< of each node; empty if nothing is kept
    int kept_count_ = 0;
    int skippable_ = 0;  ///< operators around, of which a left operand may decide alone
    size_t depth_ = 0;
    size_t deepest_ = 0;
};

}  // namespace guardtree
