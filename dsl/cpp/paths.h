// Paths and the kinds on them, word by word: local("x").attr("y").is_true().
// SPDX-License-Identifier: MIT
#pragma once
#include "words.h"

namespace guardtree::dsl {

/// How an expression may be used.
enum class Role : uint8_t {
    path,  ///< a value
    /// a value that ends in size(i) or stride(i), which integer conditions read without
    /// an int object
    dimension,
    checked,        ///< a path with kinds on it, which is a condition
    unfinished,     ///< a checked path with a step after its kinds
    number,         ///< an integer
    integer_claim,  ///< a comparison of numbers, or several joined by &&, || and !
    claim,          ///< a relation, or several conditions
};

template <Role R, class S>
class Expression;

template <class T>
constexpr bool is_expression = false;

template <Role R, class S>
constexpr bool is_expression<Expression<R, S>> = true;

template <class T>
constexpr Role role_of = Role::claim;

template <Role R, class S>
constexpr Role role_of<Expression<R, S>> = R;

template <class T, Role... Rs>
constexpr bool has_role = is_expression<T> && ((role_of<T> == Rs) || ...);

template <Role R, class S>
constexpr Expression<R, S> expression(const S& words) {
    return Expression<R, S>(words);
}

template <ValueStep T, Role R, class S, class... Ts>
constexpr auto with_step(const Expression<R, S>& path, const Ts&... given) {
    constexpr bool is_checked = R == Role::checked || R == Role::unfinished;
    constexpr bool is_measure =
        std::same_as<T, guardtree::Size> || std::same_as<T, guardtree::Stride>;
    constexpr bool is_dimension =
        is_measure && ((given_as<Ts> == Given::integer) && ...);
    constexpr Role role = is_checked     ? Role::unfinished
                          : is_dimension ? Role::dimension
                                         : Role::path;
    return expression<role>(joined(words_of(path), word<T>(given...)));
}

template <GuardKind T, Role R, class S, class... Ts>
constexpr auto with_kind(const Expression<R, S>& path, const Ts&... given) {
    return expression<Role::checked>(joined(words_of(path), word<T>(given...)));
}

/// Depends on the arguments, so it is evaluated where the word is used.
template <GuardStep T, class... Ts>
constexpr bool is_value_step = ValueStep<T>;

/// Every kind and every step as a member of paths.
template <class Self>
class Words {
public:
#define X(type, stem)                                                                 \
    template <class... Ts>                                                            \
    constexpr auto stem(const Ts&... given) const {                                   \
        return with_kind<guardtree::type>(static_cast<const Self&>(*this), given...); \
    }
    GUARDTREE_KINDS(X)
#undef X

#define X(type, stem)                                                          \
    template <class... Ts>                                                     \
    constexpr auto stem(const Ts&... given) const {                            \
        constexpr bool is_good = is_value_step<guardtree::type, Ts...>;        \
        static_assert(is_good, #stem " starts a path: write " #stem            \
                                     "(...) by itself, not behind a value");   \
        if constexpr (is_good)                                                 \
            return with_step<guardtree::type>(static_cast<const Self&>(*this), \
                                              given...);                       \
        else                                                                   \
            return static_cast<const Self&>(*this);                            \
    }
    GUARDTREE_STEPS(X)
#undef X
};

struct NoWords {};

/// A value, a number or a condition. It is constexpr if its parts are. Its truth
/// depends on a frame, so there is no conversion to bool.
template <Role R, class S>
class Expression
    : public std::conditional_t<has_role<Expression<R, S>, Role::path, Role::dimension,
                                         Role::checked, Role::unfinished>,
                                Words<Expression<R, S>>, NoWords> {
public:
    constexpr explicit Expression(const S& words) : words_(words) {}

    friend constexpr const S& words_of(const Expression& expression) {
        return expression.words_;
    }

private:
    S words_;
};

/// Every root step as a function: local("x"), global("N"), f_locals().
#define X(type, stem)                                     \
    template <RootStep T = guardtree::type, class... Ts>  \
    constexpr auto stem(const Ts&... given) {             \
        return expression<Role::path>(word<T>(given...)); \
    }
GUARDTREE_STEPS(X)
#undef X

/// The instructions of a path, as one value of a relation or an integer expression.
template <Role R, class S>
constexpr auto as_value(const Expression<R, S>& path, Action action = Action::value) {
    constexpr auto count = std::tuple_size_v<decltype(S::instructions)>;
    static_assert(count <= UINT16_MAX);
    return joined(one(Instruction{.action = action, .count = count}), words_of(path));
}

}  // namespace guardtree::dsl
