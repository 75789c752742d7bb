// Builds an integer expression from its parts: syntax tree, text, names.
// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "expression.h"
#include "syntax.h"

namespace guardtree {

/// How an operator is written in Python. Operators with a higher precedence bind
/// tighter.
struct IntegerOperatorText {
    std::string_view word;
    int precedence;
};

namespace precedence {
constexpr int disjunction = 1;
constexpr int conjunction = 2;
constexpr int negation = 3;
constexpr int comparison = 4;
constexpr int sum = 5;
constexpr int product = 6;
constexpr int sign = 7;
}  // namespace precedence

inline constexpr std::array<IntegerOperatorText, 15> integer_operator_texts{{
    {"or", precedence::disjunction},
    {"and", precedence::conjunction},
    {"not", precedence::negation},
    {"==", precedence::comparison},
    {"!=", precedence::comparison},
    {"<", precedence::comparison},
    {"<=", precedence::comparison},
    {">", precedence::comparison},
    {">=", precedence::comparison},
    {"+", precedence::sum},
    {"-", precedence::sum},
    {"*", precedence::product},
    {"//", precedence::product},
    {"%", precedence::product},
    {"-", precedence::sign},  // after subtract, so that a search by word finds subtract
}};
static_assert(integer_operator_texts.size() ==
              static_cast<size_t>(IntegerOperator::negative) + 1);

/// Whether an operator has only a right operand.
constexpr bool is_unary(IntegerOperator operation) noexcept {
    return operation == IntegerOperator::negation ||
           operation == IntegerOperator::negative;
}

constexpr const IntegerOperatorText& text_of(IntegerOperator operation) noexcept {
    return integer_operator_texts[static_cast<size_t>(operation)];
}

/// Nodes are numbered and added after their operands. The text is written separately,
/// from left to right. A number is -1 if the node could not be made; then the numbers
/// of all nodes above it are -1 too.
class IntegerBuilder {
public:
    using Kind = IntegerSyntax::Kind;

    /// The maximum number of parentheses, signs and negations around a part of the
    /// text.
    static constexpr int max_nesting = 64;

    explicit IntegerBuilder(IntegerExpression& to);

    void write(std::string_view text);

    /// Writes an operator with its blanks: " == ", "not ", "-".
    void write(IntegerOperator operation);

    /// The number of a name. Adds the name if it is new.
    int name_number(std::string_view name);

    /// Adds a leaf that reads a name as `kind`, and its text. `dimension` is for kinds
    /// size and stride.
    int add_value(Kind kind, int name, int64_t dimension = 0);

    /// Adds a constant, without its text.
    int add_constant(int64_t constant);

    /// Adds an operator on nodes, without its text. `left` is -1 for unary operators.
    /// Negation of a constant changes that node in place, so no other node may use it.
    int add_operation(IntegerOperator operation, int left, int right);

    bool is_claim(int node) const { return at(node).is_claim(); }

    /// Compiles the condition `root`. Returns false with a message if it is too large
    /// or uses no value.
    bool finish(int root, std::string& problem);

private:
    const IntegerSyntax& at(int node) const {
        return syntax_[static_cast<size_t>(node)];
    }

    int add(const IntegerSyntax& node);

    IntegerExpression& to_;
    std::vector<IntegerSyntax> syntax_;
};

}  // namespace guardtree
