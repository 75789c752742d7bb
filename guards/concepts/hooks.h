// The optional members of kinds, steps and relations.
// SPDX-License-Identifier: MIT
//
// Each hook is a member function that a struct may define. The room that calls it is in
// brackets. tests/house/test_rooms.py rejects a public function that is neither here
// nor in kind.h, so a misspelt hook is found.
#pragma once
#include <Python.h>

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../../framelocals/views/view.h"
#include "../objects/keys.h"
#include "../objects/remembered.h"
#include "../operands/operand.h"
#include "../text/fact_difference.h"

namespace guardtree {

class Op;

/// A kind that passes only values with one of these keys, and runs no user code for the
/// others. [lookup: finding entries]
template <class K>
concept HasKeys = requires(const K& kind, std::vector<Keys>& to) {
    kind.add_keys(to);
};

/// A step that runs user code on some values only: `peek` gives the part, borrowed, if
/// fetching it from this value runs none. Null if it would, or if there is no such
/// part. [lookup: finding entries]
template <class S>
concept Peeks = requires(const S& step, PyObject* value, Remembered remembered) {
    { step.peek(value, remembered) }
    noexcept->std::same_as<Borrowed<>>;
};

/// A kind that passes only values of this exact type; null for any. [tree: order,
/// simplify; assumptions]
template <class K>
concept HasExactType = requires(const K& kind) {
    { kind.exact_type() } -> std::same_as<PyTypeObject*>;
};

/// A kind that passes exactly the values of one type, compared by its address.
/// [compile: blocks]
template <class K>
concept ComparesType = requires(const K& kind) {
    { kind.compared_type() } -> std::same_as<const TypeIdentity&>;
};

/// A kind that passes exactly the values of this length, as builtin_length.h says.
/// [compile: name blocks]
template <class K>
concept ComparesLength = requires(const K& kind) {
    { kind.compared_length() } -> std::same_as<Py_ssize_t>;
};

/// A kind that passes exactly this object, which never dies. [compile: name blocks]
template <class K>
concept HasOnlyObject = requires(const K& kind) {
    { kind.only_object() } -> std::same_as<PyObject*>;
};

/// A kind that passes exactly the values equal to this constant. [tree: simplify;
/// compile: name blocks]
template <class K>
concept HasOnlyConstant = requires(const K& kind) {
    { kind.only_constant() } -> std::same_as<PyObject*>;
};

/// What can be said about a check without running it.
enum class Known : uint8_t { nothing, passes, fails };

constexpr Known known_to(bool pass) noexcept {
    return pass ? Known::passes : Known::fails;
}

/// A kind whose answer may follow from the exact type of the value. [tree: simplify]
template <class K>
concept KnowsByType = requires(const K& kind, PyTypeObject* type) {
    { kind.known_by_type(type) } -> std::same_as<Known>;
};

/// A kind whose answer may follow from another check of the same kind that passed.
/// [tree: simplify]
template <class K>
concept KnowsByAnother = requires(const K& kind, const K& passed) {
    { kind.known_by(passed) } -> std::same_as<Known>;
};

/// A kind that can merge two checks into one; false if these two do not merge.
/// [tree: simplify]
template <class K>
concept CanBeJoined = requires(const K& kind, const K& other, K& both) {
    { kind.join(other, both) } -> std::same_as<bool>;
};

/// A kind that contains other kinds, which check the same value. [tree: order,
/// simplify; ops: fetch]
template <class K>
concept HasInnerKinds = requires(const K& kind) {
    { kind.inner_kinds() } -> std::same_as<std::span<const Op>>;
};

/// A kind that describes a value better than its repr does. [run: explain]
template <class K>
concept TellsWhatItFound = requires(const K& kind, PyObject* value) {
    { kind.found(value) } -> std::same_as<std::string>;
};

/// A kind that checks several facts of a value, and can list those that differ. [run:
/// explain]
template <class K>
concept TellsDifferences = requires(const K& kind, PyObject* value) {
    { kind.differences(value) } -> std::same_as<std::vector<FactDifference>>;
};

/// A step or a kind that reads a dict other than the value itself. A root takes the
/// dict from the view, other ops from the value. The result is borrowed, and null if
/// there is no dict. [assumptions]
template <class T>
concept ReadsDictOfView = requires(const View& view) {
    { T::dict_of(view) } -> std::same_as<PyObject*>;
};

template <class T>
concept ReadsDictOfValue = requires(PyObject* value) {
    { T::dict_of(value) } -> std::same_as<PyObject*>;
};

/// A step that fetches what the word at this place of a value points to. The value is
/// of a type that has the part. [assumptions]
template <class T>
concept LendsFromPlace = requires(PyObject* value) {
    { T::place_of_child(value) } -> std::same_as<PyObject* const*>;
};

/// Where a step looks up a name.
enum class NameOwner : uint8_t { instance, dict, globals };

/// A step that looks up a key, and runs no user code. [compile: name blocks]
template <class S>
concept FindsName = requires(const S& step) {
    { S::name_owner } -> std::convertible_to<NameOwner>;
    { step.key_found() } -> std::same_as<const Key&>;
};

/// Where a step finds an item.
enum class ItemOwner : uint8_t { slots, list, tuple };

/// A step that fetches an item by its index, counted from the front; negative if there
/// is none. [compile: item blocks]
template <class S>
concept FindsItem = requires(const S& step, PyCodeObject* code) {
    { S::item_owner } -> std::convertible_to<ItemOwner>;
    { step.index_in(code) } -> std::same_as<Py_ssize_t>;
};

/// A step that may run user code, but runs none on values of this exact type. [tree:
/// order]
template <class S>
concept IsPlainOnTypes = requires(const S& step, PyTypeObject* type) {
    { step.is_plain_on(type) } -> std::same_as<bool>;
};

/// A root that names a slot. Compiling binds it to a code object. [compile]
template <class S>
concept BindsToCode = requires(S step, PyCodeObject* code, std::string& problem) {
    { step.bind(code, problem) } -> std::same_as<bool>;
};

/// A relation that has names for its values. [bindings: keyword arguments]
template <class R>
concept NamesItsValues = requires(const R& relation) {
    relation.names();
};

/// A relation that prints as a call with the paths of its values. [run: explain]
template <class R>
concept CalledOverPaths =
    requires(const R& relation, std::span<const std::string> paths) {
        { relation.call(paths) } -> std::same_as<std::string>;
    };

/// A relation whose answer may be known without values. `nodes` are equal where the
/// paths are equal; `constants` has the constant that a value must equal, or null.
/// [tree: simplify]
template <class R>
concept KnowsByNodes = requires(const R& relation, std::span<const uint32_t> nodes,
                                std::span<PyObject*> constants) {
    { relation.known_by_nodes(nodes, constants) } -> std::same_as<Known>;
};

/// One of several relations that are joined: for each of its values, in order, the
/// index of that value in the joined relation.
template <class R>
struct JoinedPart {
    R relation;
    std::vector<uint16_t> values;
};

/// A relation that can evaluate several of its kind as one, which passes where all
/// pass. Returns false if that does not pay. `keep` holds what `to` refers to.
/// [compile: relation blocks]
template <class R>
concept JoinsRelations = requires(std::span<const JoinedPart<R>> parts, R& to,
                                  References& keep) {
    { R::join_relations(parts, to, keep) } -> std::same_as<bool>;
};

/// A relation that can say why its values do not pass. [run: explain]
template <class R>
concept TellsWhy =
    requires(const R& relation, std::span<PyObject* const> values,
             std::span<const std::string> paths) {
        { relation.reason(values, paths) } -> std::same_as<std::string>;
    };

}  // namespace guardtree
