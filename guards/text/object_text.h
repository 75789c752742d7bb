// Objects in messages and reports, and reading the attributes that they are told by.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <string>

#include "../../framelocals/ref.h"

#include "short_repr.h"

namespace guardtree {

/// The name that an object is reached by, module included; its repr when it has none.
std::string reference_text(PyObject* object);

/// "3 (int)": what was found, for messages.
std::string found_text(PyObject* object);

/// A note in one line: a str as it is, of other objects their short_repr.
std::string note_text(PyObject* note);

/// `object.<name>` through the full protocol, by the interned name: a new str for each
/// call would stay in CPython's method cache. Null with an exception set.
Owned<> attribute_of(PyObject* object, const char* name) noexcept;

/// The characters of a str; "?" for those that UTF-8 has not, and for null.
std::string utf8(PyObject* text);

}  // namespace guardtree
