// What a guard kind, a step and a relation are: the concepts, and what each says about
// itself; what it may say besides is in hooks.h. Read this first;
// kinds/type_match.h is the shortest example.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "../../framelocals/ref.h"
#include "../../framelocals/views/view.h"
#include "../objects/remembered.h"
#include "../operands/operand.h"

#include "hooks.h"

namespace guardtree {

/// The answer of a check. `error`: Python code that the check ran raised; the exception
/// is pending until the walk takes it.
enum class Verdict : uint8_t { fail, pass, error };

/// What of a value an op goes by, for assumptions: which changes can change its answer.
enum class Reads : uint8_t {
    anything,   ///< it is run anew
    identity,   ///< nothing that can change while the value lives
    type,       ///< the exact type
    attribute,  ///< an entry of the dict that the value has its attributes in
    class_and_attribute,  ///< that, and where the name lies in its type's MRO
    item,       ///< an entry of the dict that it is; the operand `key` or `name`
    keys,       ///< which keys the dict that it is has, and their order
    entries,    ///< all of the dict that it is
};

/// What every kind, step and relation says about itself. Docs, errors, bindings, tests
/// and the printed tree read only this.
struct Info {
    std::string_view name;     ///< Python method, DSL word, file stem
    std::string_view summary;  ///< one sentence, for docs
    /// The same in Python, over `value` and the operands by name, in the words of
    /// guardtree.semantics: what a tree prints and what strict mode evaluates.
    std::string_view python;
    /// Another text that means this kind or step when it is read; where Python would
    /// ask user code or convert, the guard is stricter.
    std::string_view shorthand = {};
    /// What a kind's operands say of `value`, for reports of what entries differ in:
    /// "len(value)" of length. Empty: the kind by its name.
    std::string_view fact = {};
    /// User code may run. Values that live across such an op are owned by the walk.
    bool calls_python = false;
    /// A kind whose answer about a value that equals a constant is that about the
    /// constant itself, for good: no user code, no identity, no order of keys.
    bool is_by_value = false;
    /// A kind whose check is a few instructions and no call: the hook evaluates
    /// programs of such kinds on locals before it has a stack frame.
    bool is_leaf = false;
    Reads reads = Reads::anything;
};

/// One documented, executed case of a kind: with these operands `pass` passes and
/// `fail` fails. All fields are Python expressions.
struct Example {
    std::string_view operands, pass, fail;
};

/// One documented, executed case of a step: from `value` it fetches `result`; from
/// `fail` it fetches nothing, and the guard fails. An empty `fail`: no value does so.
struct StepExample {
    std::string_view operands, value, result, fail;
};

/// One documented, executed case of a relation: it passes over the values of the tuple
/// `pass` and fails over those of `fail`.
struct RelationExample {
    std::string_view operands, pass, fail;
};

template <class T, class Owner>
struct Operand {
    std::string_view name;
    T Owner::*member;
};

template <class T, class Owner>
constexpr auto operand(std::string_view name, T Owner::*member) {
    return Operand<T, Owner>{name, member};
}

template <class... Ts>
struct TypeList {};

/// Operands fit in the payload of an Op: two words.
inline constexpr size_t op_payload_size = 16;

template <class T>
concept Described = std::is_trivially_copyable_v<T> &&
                    std::is_default_constructible_v<T> &&
                    sizeof(T) <= op_payload_size&& requires {
    { T::info } -> std::convertible_to<const Info&>;
    {std::tuple_size_v<std::remove_cvref_t<decltype(T::operands())>>};
    requires std::size(T::examples)
    >= 1;
};

/// A leaf check on one value. `value` is borrowed and never null.
template <class K>
concept GuardKind = Described<K> && requires(const K kind, PyObject* value) {
    { kind.check(value) }
    noexcept;
    requires std::same_as<decltype(kind.check(value)), bool> ||
        (std::same_as<decltype(kind.check(value)), Verdict> && K::info.calls_python);
};

template <class K>
constexpr bool is_leaf_kind = false;

template <GuardKind K>
constexpr bool is_leaf_kind<K> = K::info.is_leaf && !K::info.calls_python;

/// Steps whose look-up begins where the last one ended.
template <class S>
concept RememberingRoot = Described<S> &&
    requires(const S step, const View& view, Remembered remembered) {
    { step.get(view, remembered) }
    noexcept->std::same_as<Borrowed<>>;
};

template <class S>
concept RememberingStep = Described<S> &&
    requires(const S step, PyObject* value, Remembered remembered) {
    { step.get(value, remembered) }
    noexcept->std::same_as<Borrowed<>>;
};

template <class S>
concept RootStep = RememberingRoot<S> ||
    (Described<S>&& requires(const S step, const View& view) {
        { step.get(view) }
        noexcept;
        requires std::same_as<decltype(step.get(view)), Borrowed<>> ||
            std::same_as<decltype(step.get(view)), Owned<>>;
    });

template <class S>
concept ValueStep = RememberingStep<S> ||
    (Described<S>&& requires(const S step, PyObject* value) {
        { step.get(value) }
        noexcept;
        requires std::same_as<decltype(step.get(value)), Borrowed<>> ||
            std::same_as<decltype(step.get(value)), Owned<>>;
    });

/// Fetches a child value. Null without an exception: there is no such child, the guard
/// fails. Null with one (only where the info says calls_python): the verdict is error.
template <class S>
concept GuardStep = RootStep<S> || ValueStep<S>;

/// True for a step whose result nobody else keeps alive.
template <class S>
constexpr bool returns_owned = [] {
    if constexpr (RememberingRoot<S> || RememberingStep<S>) {
        return false;
    } else if constexpr (RootStep<S>) {
        using Result = decltype(std::declval<const S&>().get(std::declval<View>()));
        return std::same_as<Result, Owned<>>;
    } else {
        return std::same_as<decltype(std::declval<const S&>().get(nullptr)), Owned<>>;
    }
}();

/// True for a step that may take over the place of a value that nothing needs any more:
/// dropping that value may run user code, as the step itself may.
template <class S>
constexpr bool takes_places_over = [] {
    if constexpr (GuardStep<S>) {
        return returns_owned<S> && S::info.calls_python;
    } else {
        return false;
    }
}();

/// A check over several values. `values` is the walk's scratch: borrowed, none null,
/// and the relation may reorder them. `arity_problem(count)` is empty when it takes
/// that many; `text(paths)` is the relation in Python.
template <class R>
concept GuardRelation = Described<R> &&
    requires(const R relation, std::span<PyObject*> values,
             std::span<const std::string> paths, size_t count) {
    { relation.check(values) }
    noexcept->std::same_as<bool>;
    { relation.arity_problem(count) } -> std::same_as<std::string>;
    { relation.text(paths) } -> std::same_as<std::string>;
};

}  // namespace guardtree
