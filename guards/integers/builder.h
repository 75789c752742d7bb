// An integer expression put together from its parts: syntax tree, text, names.
// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "expression.h"

namespace guardtree {

enum class IntegerOperator : uint8_t {
    disjunction,
    conjunction,
    negation,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    add,
    subtract,
    multiply,
    floor_divide,
    modulo,
    negative,
};

/// How an operator is written in Python; one of a higher precedence binds tighter.
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
    {"-", precedence::sign},  // behind subtract, which is found by its word
}};
static_assert(integer_operator_texts.size() ==
              static_cast<size_t>(IntegerOperator::negative) + 1);

/// Of what has a right operand only.
constexpr bool is_unary(IntegerOperator operation) noexcept {
    return operation == IntegerOperator::negation ||
           operation == IntegerOperator::negative;
}

constexpr const IntegerOperatorText& text_of(IntegerOperator operation) noexcept {
    return integer_operator_texts[static_cast<size_t>(operation)];
}

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
        negative,
        logic
    };

    Kind kind = Kind::constant;
    IntegerOperator operation = {};  ///< of what is no leaf
    int name = -1;
    int64_t constant = 0;  ///< of size: the dimension
    int left = -1;
    int right = -1;

    bool is_leaf() const noexcept { return kind <= Kind::rank; }

    bool is_claim() const noexcept {
        return kind == Kind::compare || kind == Kind::logic;
    }
};

/// Nodes are added operands first and are known by number; the text is written beside
/// them, from left to right. A number is -1 where the node could not be made, and so is
/// that of all above it.
class IntegerBuilder {
public:
    using Kind = IntegerSyntax::Kind;

    /// Parentheses, signs and negations around a part of the text.
    static constexpr int most_nesting = 64;

    explicit IntegerBuilder(IntegerExpression& to);

    void write(std::string_view text);

    /// " == ", "not ", "-": an operator as it stands among its operands.
    void write(IntegerOperator operation);

    /// The number of a name, which is new or known.
    int name_number(std::string_view name);

    /// A name as `kind` reads it, and its text. `dimension` is of a size.
    int add_value(Kind kind, int name, int64_t dimension = 0);

    /// A constant, without its text.
    int add_constant(int64_t constant);

    /// An operator on nodes, without its text; `left` is -1 when it has but one. A
    /// constant that is negated is changed in place: nothing else may use it.
    int add_operation(IntegerOperator operation, int left, int right);

    bool is_claim(int node) const { return at(node).is_claim(); }

    /// Compiles the claim `root`. False with a sentence when it is too large, or speaks
    /// of no value.
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
