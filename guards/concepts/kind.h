// What a guard kind, a step and a relation are: the concepts, and the description that
// each one provides. Optional members are in hooks.h. Start here; kinds/type_match.h is
// the shortest example.
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

/// The result of a check. `error` means that Python code raised during the check. The
/// exception is pending until the walk takes it.
enum class Verdict : uint8_t { fail, pass, error };

/// Which part of a value an op depends on. Assumptions use it to decide which changes
/// invalidate the result.
enum class Reads : uint8_t {
    anything,   ///< unknown: the op is run again each time
    identity,   ///< only parts that cannot change while the value lives
    type,       ///< the exact type
    attribute,  ///< an entry of the dict in which the value keeps its attributes
    class_and_attribute,  ///< `attribute`, and the entry of the name in its type's MRO
    item,     ///< the value is a dict: its entry for the operand `key` or `name`
    keys,     ///< the value is a dict: its keys and their order
    entries,  ///< the value is a dict: all its entries
};

/// The description of a kind, step or relation. Docs, errors, bindings, tests and
/// printed trees read nothing else.
struct Info {
    std::string_view name;     ///< Python method, DSL word, file stem
    std::string_view summary;  ///< one sentence, for docs
    /// The meaning as a Python expression over `value` and the operand names, with the
    /// functions of guardtree.semantics. Trees print it and strict mode evaluates it.
    std::string_view python;
    /// A second text that parses to this kind or step. The guard is stricter than that
    /// text where Python would call user code or convert types.
    std::string_view shorthand = {};
    /// The fact about `value` that a kind's operands determine, for reports of the
    /// differences between entries. Example: "len(value)" for length. If it is empty,
    /// the report uses the kind's name.
    std::string_view fact = {};
    /// User code may run. The walk owns values that are live across such an op.
    bool calls_python = false;
    /// The verdict on a value that equals a constant is always the verdict on the
    /// constant itself. Such a kind depends on no user code, identity or order of keys.
    bool is_by_value = false;
    /// The check is a few instructions without a call. The hook evaluates programs of
    /// such kinds on locals before it has a stack frame.
    bool is_leaf = false;
    Reads reads = Reads::anything;
};

/// A documented example of a kind, which tests execute. With these operands `pass`
/// passes and `fail` fails. All fields are Python expressions. An empty `fail` means
/// that every value passes.
struct Example {
    std::string_view operands, pass, fail;
};

/// A documented example of a step, which tests execute. From `value` it fetches
/// `result`. From `fail` it fetches nothing and the guard fails. An empty `fail` means
/// that every value has the part.
struct StepExample {
    std::string_view operands, value, result, fail;
};

/// A documented example of a relation, which tests execute. It passes for the values in
/// the tuple `pass` and fails for those in `fail`.
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

/// Operands must fit in the payload of an Op, which is two words.
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

/// A check of one value. `value` is borrowed and never null.
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

/// Steps whose look-up starts where the previous one found its value.
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

/// Fetches a child value. Null without an exception means that there is no such child,
/// and the guard fails. Null with an exception means verdict `error`; only a step whose
/// info says calls_python may return it.
template <class S>
concept GuardStep = RootStep<S> || ValueStep<S>;

/// True for a step that returns a new reference.
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

/// True for a step that may reuse the place of a value that no op needs any more.
/// Releasing that value may run user code, and so may the step itself.
template <class S>
constexpr bool takes_places_over = [] {
    if constexpr (GuardStep<S>) {
        return returns_owned<S> && S::info.calls_python;
    } else {
        return false;
    }
}();

/// A check of several values. `values` is scratch memory of the walk. The values are
/// borrowed, none is null, and the relation may reorder them. `arity_problem(count)`
/// returns an empty string if the relation accepts that many values. `text(paths)` is
/// the relation in Python.
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
