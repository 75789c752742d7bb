// repr() of any object, of which no more is made than is shown.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <string>

namespace guardtree {

/// `repr(object)`, cut to 120 characters. Containers of CPython's own, named tuples and
/// dataclasses are written part by part until the room is used up, whatever they hold;
/// other objects' own `__repr__` is run and cut. An object whose repr raises is told by
/// its type. Runs user code and leaves no exception; see TextCall.
std::string short_repr(PyObject* object);

/// "ZeroDivisionError: division by zero", the message cut to 1000 characters.
std::string exception_text(PyObject* exception);

}  // namespace guardtree
