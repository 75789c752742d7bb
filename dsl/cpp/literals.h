// How operands are written: C++ literals, tuples, sets and dicts of them, objects, and
// placeholders for objects that are passed to build.
// SPDX-License-Identifier: MIT
#pragma once
#include <concepts>
#include <type_traits>

#include "sequence.h"

namespace guardtree::dsl {

template <size_t Position>
struct Placeholder {
    static_assert(Position < 64, "an expression has at most 64 placeholders");
};

/// Stands for the object that is passed to build at this position, from 0. To name one,
/// write `constexpr auto int_type = placeholder<0>;`. (It is not called `object`,
/// because CPython's private headers have a global typedef with that name.)
template <size_t Position>
inline constexpr Placeholder<Position> placeholder{};

/// Several literals as one.
template <Form F, bool HoldsKinds, class S>
struct Group {
    S literals;
};

/// The form in which an operand is given.
enum class Given : uint8_t {
    nothing,  ///< nothing that can be an operand
    none,
    boolean,
    integer,
    real,
    text,
    object,
    tuple,
    set,
    dict,
    kind,
    kinds,  ///< a tuple of kinds
};

template <class T>
constexpr Given given_class = Given::nothing;

template <size_t Position>
constexpr Given given_class<Placeholder<Position>> = Given::object;

template <Form F, bool HoldsKinds, class S>
constexpr Given given_class<Group<F, HoldsKinds, S>> = [] {
    switch (F) {
    case Form::tuple: return HoldsKinds ? Given::kinds : Given::tuple;
    case Form::set: return Given::set;
    case Form::dict: return Given::dict;
    case Form::kind: return Given::kind;
    }
}();

template <class T, class... Others>
concept AnyOfTypes = (std::same_as<T, Others> || ...);

/// A char is not a number, and a std::string may be destroyed before build.
template <class Whole, class T = std::decay_t<Whole>>
constexpr Given given_as = [] {
    if (std::same_as<T, std::nullptr_t>) return Given::none;
    if (std::same_as<T, bool>) return Given::boolean;
    if (AnyOfTypes<T, short, int, long, long long, unsigned short, unsigned,
                   unsigned long, unsigned long long>)
        return Given::integer;
    if (AnyOfTypes<T, float, double>) return Given::real;
    if (AnyOfTypes<T, const char*, char*, std::string_view>) return Given::text;
    if (AnyOfTypes<T, PyObject*, PyTypeObject*>) return Given::object;
    return given_class<T>;
}();

/// A literal as a sequence.
template <class T>
constexpr auto literal(const T& given) {
    constexpr Given as = given_as<T>;
    if constexpr (as == Given::integer && std::is_signed_v<T>)
        return one(Literal(int64_t{given}));
    else if constexpr (as == Given::integer)
        return one(Literal(uint64_t{given}));
    else if constexpr (as == Given::real)
        return one(Literal(double{given}));
    else if constexpr (as == Given::text)
        return one(Literal(std::string_view(given)));
    else
        return one(Literal(given));
}

template <size_t Position>
constexpr auto literal(const Placeholder<Position>&) {
    return one<Placeholders{1} << Position>(Literal(Later{Position}));
}

template <Form F, bool HoldsKinds, class S>
constexpr auto literal(const Group<F, HoldsKinds, S>& group) {
    return group.literals;
}

template <Form F, class... Ts>
constexpr auto grouped(const Ts&... items) {
    constexpr bool holds_kinds = ((given_as<Ts> == Given::kind) || ...);
    constexpr bool is_good =
        ((given_as<Ts> != Given::nothing) && ...) &&
        (!holds_kinds || (F == Form::tuple && ((given_as<Ts> == Given::kind) && ...)));
    static_assert(
        is_good,
        "what a tuple, set or dict holds is None (nullptr), a bool, an int, a "
        "double, a text, an object, or a tuple, set or dict; or, in a tuple, "
        "only kinds");
    const auto head = one(Literal(Items{F, OpCode{}, sizeof...(Ts)}));
    if constexpr (is_good) {
        const auto all = joined(head, literal(items)...);
        return Group<F, holds_kinds, std::remove_const_t<decltype(all)>>{all};
    } else {
        return Group<F, false, Sequence<0, 1, 0>>{head};
    }
}

/// A tuple: `one_of(tuple_of(1, 2))`, `equals(tuple_of(1, tuple_of("a", nullptr)))`.
template <class... Ts>
constexpr auto tuple_of(const Ts&... items) {
    return grouped<Form::tuple>(items...);
}

/// A set: `set_equals(set_of("a", "b"))`.
template <class... Ts>
constexpr auto set_of(const Ts&... items) {
    return grouped<Form::set>(items...);
}

/// A dict, as alternating keys and values: `dict_of("dtype", "float32", "ndim", 2)`.
template <class... Ts>
constexpr auto dict_of(const Ts&... items) {
    static_assert(sizeof...(Ts) % 2 == 0,
                  "dict_of takes keys and values in turn; the last key has no value");
    return grouped<Form::dict>(items...);
}

}  // namespace guardtree::dsl
