// Constants: which objects they are, private copies of them, and equality that no user
// code takes part in.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <string>

#include "../framelocals/ref.h"

#include "operand.h"

namespace guardtree {

/// A copy of `object` that nobody else can change: immutable parts are shared, lists,
/// dicts and sets copied, all the way down. Null with `problem` filled when it is not a
/// constant (Constant::expects), holds itself, or is nested deeper than 100.
Owned<> snapshot_constant(PyObject* object, Diagnostic& problem);

/// Exact equality of any `value` with a constant: types agree at every depth (`(1,)` is
/// not `(True,)`), floats by bits (`0.0` is not `-0.0`, a NaN is itself), dicts and
/// sets in any order. Never runs user code, allocates nothing. Cost: one compare when
/// both are the same immutable object; else linear in the constant, quadratic in the
/// number of numbers among the keys of a dict or set.
bool same_constant(PyObject* value, PyObject* constant) noexcept;

/// True for a NaN, and for a tuple with one in it: as keys they are found by their
/// address only.
bool contains_nan(PyObject* key) noexcept;

/// The keys of a dict or subclass, looked at as a dict, are exactly these constants in
/// this order. Like same_constant: no user code, no allocation.
bool has_keys_in_order(PyObject* dict, PyObject* constants_tuple) noexcept;

/// The keys of a dict or subclass are exactly these constants, in any order.
bool has_keys(PyObject* dict, PyObject* constants_frozenset) noexcept;

/// `value` is a set or a frozenset (exactly) of exactly these constants.
bool has_members(PyObject* value, PyObject* constants_frozenset) noexcept;

/// The characters of a str; "?" for those that UTF-8 has not, and for null.
std::string utf8(PyObject* text);

/// A constant as Python text that evaluates to the same constant, in full. Needs the
/// names `nan`, `inf` and, for a NaN of other bits than `nan`, `nan_of_bits`.
std::string constant_text(PyObject* constant);

}  // namespace guardtree
