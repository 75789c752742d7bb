// A word with its operands: any kind, step or relation, as its own file defines it.
// SPDX-License-Identifier: MIT
#pragma once
#include <utility>

#include "literals.h"

namespace guardtree::dsl {

template <Described T>
inline constexpr size_t operand_count =
    std::tuple_size_v<std::remove_cvref_t<decltype(T::operands())>>;

template <Described T, size_t I>
inline constexpr auto operand_member = std::get<I>(T::operands()).member;

template <class Member>
struct OperandOf;

template <class T, class Owner>
struct OperandOf<T Owner::*> {
    using type = T;
};

template <auto Member>
using OperandType = typename OperandOf<std::remove_const_t<decltype(Member)>>::type;

/// How an operand may be written. An object or a placeholder is always possible.
enum class Shape : uint8_t {
    object,
    constant,
    hashable,
    text,
    integer,
    tuple,
    set,
    kind,
    kinds,
};

/// Derived from the operand's own description, in part from its type in Python's stubs.
template <class T>
constexpr Shape shape_of = [] {
    constexpr std::string_view annotation = T::annotation;
    constexpr OperandForm form = form_of<T>;
    if (form == OperandForm::kinds)
        return std::same_as<T, InnerKind> ? Shape::kind : Shape::kinds;
    if (form != OperandForm::constant && form != OperandForm::name)
        return Shape::object;
    if (annotation == "str") return Shape::text;
    if (annotation == "int" || annotation.starts_with("Literal[-"))
        return Shape::integer;
    if (annotation.starts_with("tuple[")) return Shape::tuple;
    if (annotation.starts_with("set[")) return Shape::set;
    if (annotation == "Hashable") return Shape::hashable;
    return annotation == "object" ? Shape::constant : Shape::object;
}();

constexpr bool takes(Shape shape, Given given) {
    const bool is_kind = given == Given::kind || given == Given::kinds;
    if (given == Given::nothing) return false;
    if (given == Given::object) return true;
    switch (shape) {
    case Shape::object: return false;
    case Shape::constant: return !is_kind;
    case Shape::hashable:
        return !is_kind && given != Given::set && given != Given::dict;
    case Shape::text: return given == Given::text;
    case Shape::integer: return given == Given::integer;
    case Shape::tuple: return given == Given::tuple;
    case Shape::set: return given == Given::set;
    case Shape::kind: return given == Given::kind;
    case Shape::kinds: return given == Given::kinds;
    }
    return false;
}

/// Does not compile if the operand does not accept the argument. The compiler's message
/// then names both.
template <auto Operand, class What>
constexpr void demand_operand() {
    constexpr Shape shape = shape_of<OperandType<Operand>>;
    constexpr bool is_good = takes(shape, given_as<What>);
    static_assert(is_good || shape != Shape::object,
                  "this operand takes an object: a PyObject*, a PyTypeObject*, or a "
                  "placeholder<0>");
    static_assert(is_good || shape != Shape::constant,
                  "this operand takes a constant: None (nullptr), a bool, an int, a "
                  "double, a text, tuple_of(...), set_of(...), dict_of(...) or an "
                  "object");
    static_assert(is_good || shape != Shape::hashable,
                  "this operand takes a key: None (nullptr), a bool, an int, a double, "
                  "a text, tuple_of(...) or an object");
    static_assert(is_good || shape != Shape::text,
                  "this operand takes a text: a string literal, a std::string_view (a "
                  "std::string may be gone before build) or an object");
    static_assert(is_good || shape != Shape::integer,
                  "this operand takes an integer or an object");
    static_assert(is_good || shape != Shape::tuple,
                  "this operand takes tuple_of(...) or an object");
    static_assert(is_good || shape != Shape::set,
                  "this operand takes set_of(...) or an object");
    static_assert(is_good || shape != Shape::kind,
                  "this operand takes a kind by itself, such as kinds::is_none()");
    static_assert(is_good || shape != Shape::kinds,
                  "this operand takes kinds by themselves, such as kinds::is_none()");
}

/// The compile errors that name a word.
template <Described T>
struct Demand;

#define X(type, stem)                                                       \
    template <>                                                             \
    struct Demand<guardtree::type> {                                        \
        template <bool HasThatMany, bool AreTaken>                          \
        static constexpr void operands() {                                  \
            static_assert(HasThatMany,                                      \
                          #stem " is given too few operands, or too many"); \
            static_assert(AreTaken, #stem                                   \
                          " does not take one of its operands as "          \
                          "it is given; the next error says which");        \
        }                                                                   \
    };
GUARDTREE_OPS(X)
#undef X

template <Described T, class... Ts, size_t... I>
constexpr bool takes_all(std::index_sequence<I...>) {
    return (takes(shape_of<OperandType<operand_member<T, I>>>, given_as<Ts>) && ...);
}

template <Described T, class... Ts>
constexpr bool takes_all() {
    if constexpr (sizeof...(Ts) == operand_count<T>)
        return takes_all<T, Ts...>(std::index_sequence_for<Ts...>());
    else
        return false;
}

template <Described T, class... Ts, size_t... I>
constexpr void demand_operands(std::index_sequence<I...>) {
    (demand_operand<operand_member<T, I>, Ts>(), ...);
}

/// For words whose only operand is a tuple or a set: its items may be given one by one,
/// as in one_of(1, 2), any_of(kinds::is_none(), kinds::is_true()).
template <Described T, class... Ts>
constexpr Shape gathered_shape() {
    if constexpr (operand_count<T> == 1 && sizeof...(Ts) > 0) {
        constexpr Shape shape = shape_of<OperandType<operand_member<T, 0>>>;
        constexpr bool is_group =
            ((given_as<Ts> == Given::tuple || given_as<Ts> == Given::kinds ||
              given_as<Ts> == Given::set) &&
             ...);
        const bool is_whole = sizeof...(Ts) == 1 && is_group;
        if (!is_whole &&
            (shape == Shape::tuple || shape == Shape::kinds || shape == Shape::set))
            return shape;
    }
    return Shape::object;
}

template <Described T>
constexpr Action action_of = [] {
    if constexpr (is_kind(code_of<T>))
        return Action::kind;
    else if constexpr (is_relation(code_of<T>))
        return Action::relation;
    else
        return RootStep<T> ? Action::root : Action::step;
}();

/// The word `T` with its operands as a sequence.
template <Described T, class... Ts>
constexpr auto word(const Ts&... given) {
    constexpr Shape gathered = gathered_shape<T, Ts...>();
    constexpr Instruction instruction{.action = action_of<T>,
                                      .operands = operand_count<T>,
                                      .code = code_of<T>,
                                      .make = &make_op_as<T>};
    if constexpr (takes_all<T, Ts...>()) {
        return joined(one(instruction), literal(given)...);
    } else if constexpr (gathered == Shape::set) {
        return word<T>(set_of(given...));
    } else if constexpr (gathered != Shape::object) {
        return word<T>(tuple_of(given...));
    } else {
        constexpr bool has_that_many = sizeof...(Ts) == operand_count<T>;
        Demand<T>::template operands<has_that_many, !has_that_many>();
        if constexpr (has_that_many)
            demand_operands<T, Ts...>(std::index_sequence_for<Ts...>());
        return one(instruction);
    }
}

template <GuardKind K, class... Ts>
constexpr auto inner_kind(const Ts&... given) {
    const Items head{Form::kind, code_of<K>, operand_count<K>};
    const auto all =
        joined(one(Literal(head)), without_instructions(word<K>(given...)));
    return Group<Form::kind, false, std::remove_const_t<decltype(all)>>{all};
}

/// Kinds without a path, for not_ and any_of: `local("x").any_of(kinds::is_none(),
/// kinds::type_match(&PyLong_Type))`.
namespace kinds {

#define X(type, stem)                                 \
    template <class... Ts>                            \
    constexpr auto stem(const Ts&... given) {         \
        return inner_kind<guardtree::type>(given...); \
    }
GUARDTREE_KINDS(X)
#undef X

}  // namespace kinds
}  // namespace guardtree::dsl
