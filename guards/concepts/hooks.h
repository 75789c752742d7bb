// What a kind, a step or a relation may say about itself besides what it has to.
// SPDX-License-Identifier: MIT
//
// Each hook is a member function that its struct has or has not; who asks for it is in
// brackets. A public function that is neither here nor in kind.h is refused by
// tests/house/test_rooms.py, so a misspelt hook is found.
#pragma once
#include <Python.h>

#include <concepts>
#include <span>
#include <string>
#include <vector>

#include "../../framelocals/views/view.h"
#include "../objects/keys.h"

namespace guardtree {

class Op;

/// A kind that passes only values of these keys. [lookup: finding entries]
template <class K>
concept HasKeys = requires(const K& kind, std::vector<Keys>& to) {
    kind.add_keys(to);
};

/// A kind that passes only values of this exact type. [tree: order, simplify]
template <class K>
concept HasExactType = requires(const K& kind) {
    { kind.exact_type() } -> std::same_as<PyTypeObject*>;
};

/// A kind that passes this object alone, which never dies. [compile: name blocks]
template <class K>
concept HasOnlyObject = requires(const K& kind) {
    { kind.only_object() } -> std::same_as<PyObject*>;
};

/// A kind that passes only what equals this constant. [tree: simplify]
template <class K>
concept HasOnlyConstant = requires(const K& kind) {
    { kind.only_constant() } -> std::same_as<PyObject*>;
};

/// A kind made of kinds, about the same value. [tree: order, simplify]
template <class K>
concept HasInnerKinds = requires(const K& kind) {
    { kind.inner_kinds() } -> std::same_as<std::span<const Op>>;
};

/// A kind that has more to say of a value than its repr. [run: explain]
template <class K>
concept TellsWhatItFound = requires(const K& kind, PyObject* value) {
    { kind.found(value) } -> std::same_as<std::string>;
};

/// A step or a kind that reads a dict which is not the value itself: of a view, where
/// it starts a path, or of the value; borrowed, null where there is none. [assumptions]
template <class T>
concept ReadsDictOfView = requires(const View& view) {
    { T::dict_of(view) } -> std::same_as<PyObject*>;
};

template <class T>
concept ReadsDictOfValue = requires(PyObject* value) {
    { T::dict_of(value) } -> std::same_as<PyObject*>;
};

/// A root that names a slot: it is bound to a code object. [compile]
template <class S>
concept BindsToCode = requires(S step, PyCodeObject* code, std::string& problem) {
    { step.bind(code, problem) } -> std::same_as<bool>;
};

/// A relation that has names for its values. [bindings: keyword arguments]
template <class R>
concept NamesItsValues = requires(const R& relation) {
    relation.names();
};

/// A relation that is told as a call over the paths of its values. [run: explain]
template <class R>
concept CalledOverPaths =
    requires(const R& relation, std::span<const std::string> paths) {
        { relation.call(paths) } -> std::same_as<std::string>;
    };

/// A relation that knows why its values do not pass. [run: explain]
template <class R>
concept TellsWhy =
    requires(const R& relation, std::span<PyObject* const> values,
             std::span<const std::string> paths) {
        { relation.reason(values, paths) } -> std::same_as<std::string>;
    };

}  // namespace guardtree
