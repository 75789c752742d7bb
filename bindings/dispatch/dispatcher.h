// Dispatcher: a callable of its own that runs what a table of guards finds for a call.
// SPDX-License-Identifier: MIT
#pragma once
#include <pybind11/pybind11.h>

#include "../../framehook/guarded_calls.h"

namespace guardtree {

namespace py = pybind11;

/// What CPython reads of a Dispatcher: in C's own layout.
struct DispatcherHead {
    PyObject base;
    PyObject* weak_references;
    PyObject* attributes;  ///< its `__dict__`
    vectorcallfunc vectorcall;
};

/// A Dispatcher as CPython sees it. No calls between __new__ and __init__, and once the
/// collector has emptied it.
struct DispatcherObject : DispatcherHead {
    Shared<DispatchedCalls> calls;

    static DispatcherObject* of(PyObject* self) noexcept {
        return reinterpret_cast<DispatcherObject*>(self);
    }
};

/// Makes the type, without methods of its own, and puts it into the module.
/// `initialiser`: what __init__ calls with self; kept for the process.
py::object make_dispatcher_type(py::module_& module);
void set_dispatcher_initialiser(py::object initialiser);

/// The Dispatcher that an object is, or null.
DispatcherObject* find_dispatcher(py::handle object) noexcept;

}  // namespace guardtree
