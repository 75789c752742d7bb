// Compiles the syntax tree of an integer expression to instructions.
// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "builder.h"

namespace guardtree {

/// Emits the instructions of one expression.
class IntegerCompiler {
public:
    IntegerCompiler(const std::vector<IntegerSyntax>& syntax, IntegerExpression& to)
        : syntax_(syntax), to_(to) {}

    /// Returns false if the expression needs a deeper stack than there is.
    bool compile(int root);

private:
    using Code = IntegerExpression::Code;
    using Mode = IntegerExpression::Mode;

    const IntegerSyntax& at(int index) const {
        return syntax_[static_cast<size_t>(index)];
    }

    void emit(Code code, Mode mode, uint16_t source, int64_t constant);
    void emit_with_leaf(Code code, const IntegerSyntax& leaf);
    void number(int index, bool keeps_accumulator);
    void operation(const IntegerSyntax& node, bool keeps_accumulator);
    void claim(int index);
    void logic(const IntegerSyntax& node);

    const std::vector<IntegerSyntax>& syntax_;
    IntegerExpression& to_;
    size_t depth_ = 0;
    size_t deepest_ = 0;
};

}  // namespace guardtree
