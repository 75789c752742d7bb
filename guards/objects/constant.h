// Constants: which objects count as constants, private copies of them, and equality
// without user code.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <string>

#include "../../framelocals/ref.h"
#include "../text/diagnostic.h"
#include "../text/object_text.h"

namespace guardtree {

/// For messages that refuse an object.
inline constexpr const char* what_constants_are =
    "a constant (None, bool, int, float, complex, str, bytes, Ellipsis, or a tuple, "
    "list, dict, set or frozenset of constants)";

/// A private copy of a constant. Lists, dicts, sets, and tuples that contain one of
/// them are copied. Other objects are shared, because they are immutable. An object
/// that occurs twice is copied once. Null, with `problem` filled, if `object` is not a
/// constant (Constant::expects), contains itself, or is nested deeper than 100.
Owned<> snapshot_constant(PyObject* object, Diagnostic& problem);

/// Exact equality of any `value` with a constant. Types agree at every depth (`(1,)` is
/// not `(True,)`). Floats compare by bits (`0.0` is not `-0.0`, a NaN equals itself).
/// The order of dicts and sets does not matter. Never runs user code. One compare if
/// both are the same object, otherwise linear in the constant. Allocates nothing,
/// unless a constant contains the same parts thousands of times; those are then
/// compared once.
bool same_constant(PyObject* value, PyObject* constant) noexcept;

/// Equal for a constant and each value that equals it. Reads the first items of
/// sequences, and the stored hashes of the keys of sets and dicts with at most
/// `max_keys`. Runs no user code.
size_t hash_of_value(PyObject* value, Py_ssize_t max_keys = PY_SSIZE_T_MAX) noexcept;

/// The sum of the hashes that a dict, a subclass of dict, or exactly a set or frozenset
/// stores for its keys. Linear.
size_t sum_of_hashes(PyObject* container) noexcept;

/// True for a NaN and for a tuple that contains one. Such keys are found only by their
/// address.
bool contains_nan(PyObject* key);

/// Whether the keys of a dict, or of a subclass read as a dict, are exactly these
/// constants in this order. Like same_constant: no user code, no allocation.
bool has_keys_in_order(PyObject* dict, PyObject* constants_tuple) noexcept;

/// Whether the keys of a dict or subclass are exactly these constants, in any order.
bool has_keys(PyObject* dict, PyObject* constants_frozenset) noexcept;

/// Whether `value` is a set or frozenset (not a subclass) of exactly these constants.
bool has_members(PyObject* value, PyObject* constants_frozenset) noexcept;

/// Whether a constant contains the same parts so often that its text, which repeats
/// them, would have millions of values more than the constant.
bool is_too_long_for_text(PyObject* constant);

/// A constant as Python text that evaluates to an equal constant, in full. The text
/// uses the names `nan`, `inf` and, for a NaN with other bits than `nan`,
/// `nan_of_bits`. If the constant is too long for text, the text says so.
std::string constant_text(PyObject* constant);

}  // namespace guardtree
