// Reads attributes where they are stored: type dicts, instance dicts and inline values.
// No user code runs.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "ref.h"

namespace guardtree {

/// The value of an interned str in a dict. Null if it is not there or `dict` is not a
/// dict (null included). Keys that are not exact strs are skipped, so no user code
/// runs; a dict with such keys is scanned instead of looked up.
Borrowed<> find_name(PyObject* dict, PyObject* name) noexcept;

/// An attribute by the full protocol, user code included. Null without an exception if
/// AttributeError says that there is none; null with an exception for any other.
/// CPython does not create the AttributeError if nobody would see it.
Owned<> find_attribute(PyObject* object, PyObject* name) noexcept;

/// The dict of a type's own attributes. Null for a type that is not ready. Owned,
/// because 3.12 and later store the dicts of builtin types elsewhere.
Owned<> type_dict(PyTypeObject* type) noexcept;

/// The dict of the module sys, valid as long as the interpreter lives.
PyObject* sys_dict() noexcept;

/// The dict of an object whose type does not have a managed dict. Null if there is
/// none.
PyObject* plain_instance_dict(PyObject* object) noexcept;

/// An entry of an object's own dict, for any type. Does not create the dict.
Borrowed<> find_in_instance(PyObject* object, PyObject* name) noexcept;

/// A version tag of the dict. Any change of the dict replaces it, and no other dict
/// ever has the same tag. 0 if this CPython has no complete tag (3.12 and later).
uint64_t dict_version(PyObject* dict) noexcept;

}  // namespace guardtree
