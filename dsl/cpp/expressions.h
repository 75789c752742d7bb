// The guard-tree DSL in C++: expressions that read like the tree that build creates
// from them. Include this header.
// SPDX-License-Identifier: MIT
//
//     using namespace guardtree::dsl;
//     constexpr auto model_type = placeholder<0>;
//     constexpr auto guards = tree(
//         local("x").type_match(&PyLong_Type).equals(3),
//         local("model").type_match(model_type).attr("training").is_false(),
//         same_object(local("a"), local("b")),
//         local("w").size(0) % 8 == 0 && length(local("items")) > 1);
//     if (!build(guards, to, problem, type_of_model)) ...
//
// The words are those of guards/kinds, steps and relations, with the operands of their
// files; a new file there is a new word here. Strings and objects in an expression are
// borrowed until it is built.
#pragma once
#include "integer_claims.h"

namespace guardtree::dsl {

/// A condition, as it is stored in a tree.
template <class T>
constexpr auto claim_of(const T& given) {
    static_assert(!has_role<T, Role::path, Role::dimension>,
                  "a path without a check claims nothing: put a kind on it, such as "
                  ".is_true(), or compare it");
    static_assert(!has_role<T, Role::unfinished>,
                  "a claim ends in a step: put a kind on the value it leads to");
    static_assert(!has_role<T, Role::number>, "a number is no claim: compare it");
    static_assert(
        given_as<T> != Given::kind,
        "a kind by itself is no claim: put it on a path, such as local(\"x\")");
    static_assert(is_expression<T> || given_as<T> == Given::kind,
                  "a claim is a path with kinds on it, a relation or a comparison");
    if constexpr (has_role<T, Role::integer_claim>)
        return joined(one(Instruction{.action = Action::integers}), words_of(given));
    else if constexpr (is_claim<T>)
        return words_of(given);
    else
        return Sequence<0, 0, 0>();
}

/// Several conditions, all of which must hold.
template <class... Ts>
constexpr auto all(const Ts&... claims) {
    return expression<Role::claim>(joined(claim_of(claims)...));
}

/// A whole tree, the argument of build.
template <class... Ts>
constexpr auto tree(const Ts&... claims) {
    return all(claims...);
}

template <IntegerOperator O, class... Ts>
constexpr auto logic(const Ts&... claims) {
    constexpr bool is_good = (has_role<Ts, Role::integer_claim> && ...);
    static_assert(is_good,
                  "|| and ! join comparisons of integers only; for one value there are "
                  ".any_of(kinds::...) and .not_(kinds::...)");
    if constexpr (is_good)
        return expression<Role::integer_claim>(
            joined(one(instruction_of(O)), words_of(claims)...));
    else
        return all();
}

/// Both conditions: an integer condition if both are, otherwise all(left, right).
template <class L, OperandBeside<L> R>
constexpr auto operator&&(const L& left, const R& right) {
    if constexpr (has_role<L, Role::integer_claim> && has_role<R, Role::integer_claim>)
        return logic<IntegerOperator::conjunction>(left, right);
    else
        return all(left, right);
}

template <class L, OperandBeside<L> R>
constexpr auto operator||(const L& left, const R& right) {
    return logic<IntegerOperator::disjunction>(left, right);
}

template <Role R, class S>
constexpr auto operator!(const Expression<R, S>& claim) {
    return logic<IntegerOperator::negation>(claim);
}

template <class T>
constexpr auto related_value(const T& given) {
    constexpr bool is_good = has_role<T, Role::path, Role::dimension>;
    static_assert(is_good,
                  "relations are of paths without checks; operands come first");
    if constexpr (is_good)
        return as_value(given);
    else
        return Sequence<0, 0, 0>();
}

template <GuardRelation R, class All, size_t... Operands, size_t... Values>
constexpr auto related(const All& given, std::index_sequence<Operands...>,
                       std::index_sequence<Values...>) {
    auto head = word<R>(std::get<Operands>(given)...);
    head.instructions[0].count = sizeof...(Values);
    constexpr size_t first = sizeof...(Operands);
    return expression<Role::claim>(
        joined(head, related_value(std::get<first + Values>(given))...));
}

template <GuardRelation R, class... Ts>
constexpr auto related(const Ts&... given) {
    constexpr size_t operands = operand_count<R>;
    constexpr bool is_good = sizeof...(Ts) > operands;
    static_assert(is_good, "a relation takes its operands, then paths");
    if constexpr (is_good)
        return related<R>(std::tie(given...), std::make_index_sequence<operands>(),
                          std::make_index_sequence<sizeof...(Ts) - operands>());
    else
        return all();
}

/// Every relation: same_object(local("a"), local("b")). build checks the number of
/// values.
#define X(type, stem)                              \
    template <class... Ts>                         \
    constexpr auto stem(const Ts&... given) {      \
        return related<guardtree::type>(given...); \
    }
GUARDTREE_RELATIONS(X)
#undef X

/// An expression of any type.
struct Script {
    std::span<const Instruction> instructions;
    std::span<const Literal> literals;
};

/// Adds the guards of a script to `to`. Returns false, with `problem` filled and no
/// exception pending, if something is refused. `to` then contains the guards before it.
[[nodiscard]] bool build_script(const Script& script,
                                std::span<PyObject* const> objects, Tree& to,
                                Diagnostic& problem);

inline PyObject* pointer_to(PyObject* given) noexcept {
    return given;
}

inline PyObject* pointer_to(PyTypeObject* type) noexcept {
    return as_object(type);
}

template <class T>
PyObject* pointer_to(Borrowed<T> given) noexcept {
    return as_object(given.get());
}

template <class T>
PyObject* pointer_to(const Owned<T>& given) noexcept {
    return given.object();
}

/// Adds a condition, or a tree of conditions, to `to`. `objects` are the values of its
/// placeholders, in order: PyObject*, PyTypeObject*, Borrowed or Owned. Operands are
/// read as in GuardManager. Equal paths are the same node. Returns false, with
/// `problem` filled and no exception pending, if something is refused. `to` then
/// contains the guards before it. Needs the GIL.
template <class T, class... Objects>
[[nodiscard]] bool build(const T& claim, Tree& to, Diagnostic& problem,
                         const Objects&... objects) {
    if constexpr (!has_role<T, Role::claim>) {
        return build(all(claim), to, problem, objects...);
    } else {
        const auto& words = words_of(claim);
        constexpr size_t count = sizeof...(objects);
        constexpr Placeholders used =
            std::remove_cvref_t<decltype(words)>::placeholders;
        constexpr Placeholders given =
            count < 64 ? (Placeholders{1} << count) - 1 : ~Placeholders{0};
        static_assert((used & ~given) == 0,
                      "build is given fewer objects than there are placeholders");
        static_assert((given & ~used) == 0 && count <= 64,
                      "build is given an object that no placeholder stands for");
        const std::array<PyObject*, count> pointers{pointer_to(objects)...};
        return build_script({words.instructions, words.literals}, pointers, to,
                            problem);
    }
}

}  // namespace guardtree::dsl
