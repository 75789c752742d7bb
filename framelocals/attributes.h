// Attributes where they are kept: type dicts, instance dicts and inline values, without
// user code.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "ref.h"

namespace guardtree {

/// The value of an interned str in a dict; null when it is not there or `dict` is not a
/// dict (null included). Keys that are not exact str are passed over, so no user code
/// runs: they cost a walk over the dict instead of a look-up.
Borrowed<> find_name(PyObject* dict, PyObject* name) noexcept;

/// An attribute by the full protocol, user code included: null without an exception
/// where AttributeError says that there is none, null with one for any other. Cheaper
/// than to make an AttributeError and drop it: C's own look-ups make none.
Owned<> find_attribute(PyObject* object, PyObject* name) noexcept;

/// An attribute by the full protocol, user code included. Null without an exception
/// where AttributeError says that there is none, null with one for any other. CPython
/// does not make the AttributeError where nobody would see it.
Owned<> find_attribute(PyObject* object, PyObject* name) noexcept;

/// The dict of a type's own attributes; null on a type that is not ready. Owned: 3.12
/// and later keep those of builtin types elsewhere.
Owned<> type_dict(PyTypeObject* type) noexcept;

/// The dict of the module sys, as long as the interpreter lives.
PyObject* sys_dict() noexcept;

/// The dict of an object whose type does not have CPython manage it; null where there
/// is none.
PyObject* plain_instance_dict(PyObject* object) noexcept;

/// An entry of an object's own dict, whatever its type says. The dict is not made.
Borrowed<> find_in_instance(PyObject* object, PyObject* name) noexcept;

/// A number that any change of the dict replaces and no other dict ever has; 0 where
/// this CPython keeps none that is complete (3.12 and later).
uint64_t dict_version(PyObject* dict) noexcept;

}  // namespace guardtree
