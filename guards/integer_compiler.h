// From the syntax tree of an integer expression to its instructions.
// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "integer_expression.h"

namespace guardtree {

/// A node of the syntax tree; `left` and `right` are indices, -1 for none.
struct IntegerSyntax {
    enum class Kind : uint8_t {
        constant,
        name,
        length,
        size,
        rank,
        binary,
        compare,
        unary,
        logic
    };

    Kind kind = Kind::constant;
    std::string word = {};  ///< the operator, as in Python
    int64_t constant = 0;   ///< of size: the dimension
    int name = -1;
    int left = -1;
    int right = -1;

    bool is_leaf() const noexcept { return kind <= Kind::rank; }

    bool is_claim() const noexcept {
        return kind == Kind::compare || kind == Kind::logic;
    }
};

/// Emits the instructions of one expression.
class IntegerCompiler {
public:
    IntegerCompiler(const std::vector<IntegerSyntax>& syntax, IntegerExpression& to)
        : syntax_(syntax), to_(to) {}

    /// False when the expression needs a deeper stack than there is.
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
