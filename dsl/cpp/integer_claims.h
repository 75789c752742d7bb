// Conditions on integers: arithmetic and comparisons of paths, lengths, sizes, strides
// and ranks.
// SPDX-License-Identifier: MIT
#pragma once
#include "paths.h"

namespace guardtree::dsl {

template <class T>
constexpr bool is_number = given_as<T> == Given::integer ||
                           has_role<T, Role::path, Role::dimension, Role::number>;

template <class T>
constexpr bool is_claim = has_role<T, Role::checked, Role::integer_claim, Role::claim>;

/// The value of a path that ends in size(i) or stride(i).
template <class S>
constexpr auto dimension_of(const S& words) {
    constexpr auto count = std::tuple_size_v<decltype(S::instructions)>;
    const bool is_stride = words.instructions.back().code == code_of<guardtree::Stride>;
    return joined(one(Instruction{.action = is_stride ? Action::stride : Action::size,
                                  .count = count - 1}),
                  without_last_instruction(words));
}

/// Converts a value to an operand of an operator.
template <class T>
constexpr auto number_of(const T& given) {
    static_assert(
        !is_claim<T> && !has_role<T, Role::unfinished>,
        "a claim is used as a number: compare numbers, join claims by &&, and "
        "write a chain a < b < c as a < b && b < c");
    static_assert(is_number<T> || is_expression<T>,
                  "integer expressions are of paths, length(path), rank(path) and "
                  "ints; compare with other constants by .equals(...), with objects "
                  "by .id_match(...)");
    if constexpr (given_as<T> == Given::integer)
        return joined(one(Instruction{.action = Action::number}), literal(given));
    else if constexpr (has_role<T, Role::path>)
        return as_value(given);
    else if constexpr (has_role<T, Role::number>)
        return words_of(given);
    else if constexpr (has_role<T, Role::dimension>)
        return dimension_of(words_of(given));
    else
        return Sequence<0, 0, 0>();
}

constexpr Instruction instruction_of(IntegerOperator operation) {
    return {.action = Action::operation, .operation = operation};
}

template <IntegerOperator O, Role R, class... Ts>
constexpr auto numbers(const Ts&... given) {
    return expression<R>(joined(one(instruction_of(O)), number_of(given)...));
}

/// The right operand of our operators. At least one of the two operands is an
/// expression.
template <class R, class L>
concept OperandBeside = is_expression<L> || is_expression<R>;

#define GUARDTREE_OPERATOR(token, name, role)                           \
    template <class L, OperandBeside<L> R>                              \
    constexpr auto operator token(const L& left, const R& right) {      \
        return numbers<IntegerOperator::name, Role::role>(left, right); \
    }
GUARDTREE_OPERATOR(+, add, number)
GUARDTREE_OPERATOR(-, subtract, number)
GUARDTREE_OPERATOR(*, multiply, number)
GUARDTREE_OPERATOR(%, modulo, number)  // as in Python: the sign of the divisor
GUARDTREE_OPERATOR(==, equal, integer_claim)
GUARDTREE_OPERATOR(!=, not_equal, integer_claim)
GUARDTREE_OPERATOR(<, less, integer_claim)
GUARDTREE_OPERATOR(<=, less_equal, integer_claim)
GUARDTREE_OPERATOR(>, greater, integer_claim)
GUARDTREE_OPERATOR(>=, greater_equal, integer_claim)
#undef GUARDTREE_OPERATOR

/// Python's `//`, which rounds down.
template <class L, OperandBeside<L> R>
constexpr auto floor_div(const L& left, const R& right) {
    return numbers<IntegerOperator::floor_divide, Role::number>(left, right);
}

template <class L, OperandBeside<L> R>
constexpr auto operator/(const L& left, const R&) {
    static_assert(
        !is_expression<L> && !is_expression<R>,
        "C++ and Python disagree on /: write floor_div(a, b) for Python's //");
    return left;
}

template <Role R, class S>
constexpr auto operator-(const Expression<R, S>& number) {
    return numbers<IntegerOperator::negative, Role::number>(number);
}

template <Action A, Role R, class S>
constexpr auto measure(const Expression<R, S>& path) {
    constexpr bool is_path = R == Role::path || R == Role::dimension;
    static_assert(is_path, "length and rank are of a path without checks");
    if constexpr (is_path) return expression<Role::number>(as_value(path, A));
}

/// `len(path)`, of a builtin container.
template <Role R, class S>
constexpr auto length(const Expression<R, S>& path) {
    return measure<Action::length>(path);
}

/// `path.ndim`, of a tensor.
template <Role R, class S>
constexpr auto rank(const Expression<R, S>& path) {
    return measure<Action::rank>(path);
}

}  // namespace guardtree::dsl
