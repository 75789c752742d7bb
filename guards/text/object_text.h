// Objects as text for messages and reports, and access to the attributes that describe
// them.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <string>

#include "../../framelocals/ref.h"

#include "short_repr.h"

namespace guardtree {

/// The qualified name of an object, with its module. Its repr if it has none.
std::string reference_text(PyObject* object);

/// A value and its type, for messages: "3 (int)".
std::string found_text(PyObject* object);

/// A note in one line: a str itself, or the short_repr of another object.
std::string note_text(PyObject* note);

/// `object.<name>` through the full attribute protocol. The name is interned, because a
/// new str for each call would stay in CPython's method cache. Null with an exception
/// set.
Owned<> attribute_of(PyObject* object, const char* name) noexcept;

/// A str as UTF-8. "?" for characters that UTF-8 cannot encode, and for null.
std::string utf8(PyObject* text);

}  // namespace guardtree
