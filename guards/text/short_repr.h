// repr() of any object, cut to a limit without producing more text than that.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <string>

namespace guardtree {

/// `repr(object)`, cut to 120 characters. Builtin containers, named tuples and
/// dataclasses are written element by element until the limit is reached, whatever they
/// hold. Other objects' own `__repr__` is called and its result cut. If a repr raises,
/// the text names the object's type. Runs user code and leaves no exception (see
/// TextCall).
std::string short_repr(PyObject* object);

/// "ZeroDivisionError: division by zero", with the message cut to 1000 characters.
std::string exception_text(PyObject* exception);

}  // namespace guardtree
