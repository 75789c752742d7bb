// Constants: which objects they are, private copies of them, and equality that no user
// code takes part in.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <string>

#include "../../framelocals/ref.h"
#include "../text/diagnostic.h"
#include "../text/object_text.h"

namespace guardtree {

/// For messages that refuse another object.
inline constexpr const char* what_constants_are =
    "a constant (None, bool, int, float, complex, str, bytes, Ellipsis, or a tuple, "
    "list, dict, set or frozenset of constants)";

/// A copy of `object` that nobody else can change: lists, dicts and sets are copied,
/// and tuples that have one in them; all else is shared. What occurs twice in the
/// original is copied once. Null with `problem` filled when it is not a constant
/// (Constant::expects), holds itself, or is nested deeper than 100.
Owned<> snapshot_constant(PyObject* object, Diagnostic& problem);

/// Exact equality of any `value` with a constant: types agree at every depth (`(1,)` is
/// not `(True,)`), floats by bits (`0.0` is not `-0.0`, a NaN is itself), dicts and
/// sets in any order. Never runs user code. Cost: one compare when both are the same
/// object, else linear in the constant. Allocates nothing, except for a constant that
/// has the same parts in it thousands of times: those are compared once.
bool same_constant(PyObject* value, PyObject* constant) noexcept;

/// Equal for constants that are the same. Of sequences it looks at the first items, of
/// sets and dicts at what they know of their keys.
size_t hash_of_constant(PyObject* constant) noexcept;

/// True for a NaN, and for a tuple with one in it: as keys they are found by their
/// address only.
bool contains_nan(PyObject* key);

/// The keys of a dict or subclass, looked at as a dict, are exactly these constants in
/// this order. Like same_constant: no user code, no allocation.
bool has_keys_in_order(PyObject* dict, PyObject* constants_tuple) noexcept;

/// The keys of a dict or subclass are exactly these constants, in any order.
bool has_keys(PyObject* dict, PyObject* constants_frozenset) noexcept;

/// `value` is a set or a frozenset (exactly) of exactly these constants.
bool has_members(PyObject* value, PyObject* constants_frozenset) noexcept;

/// A constant has the same parts in it so often that text, which writes them out each
/// time, is millions of values longer than the constant.
bool is_too_long_for_text(PyObject* constant);

/// A constant as Python text that evaluates to the same constant, in full. Needs the
/// names `nan`, `inf` and, for a NaN of other bits than `nan`, `nan_of_bits`. For one
/// that is too long for text, a text that says so.
std::string constant_text(PyObject* constant);

}  // namespace guardtree
