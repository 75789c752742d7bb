// Calls a callable of the user with one argument.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "ref.h"

namespace guardtree {

/// `callable(argument)`; null with an exception set. Calls a Python function the way
/// PyObject_CallOneArg does, but reads its vectorcall here and trusts it to set an
/// exception exactly if it returns null. Saves about 30 instructions, of 1,764 that a
/// hit with a Python guard executes (bench/instructions.py, hook).
inline Owned<> call_one(PyObject* callable, PyObject* argument) noexcept {
    if (PyFunction_Check(callable)) {
        PyObject* words[] = {nullptr, argument};  // PEP 590: the first is the callee's
        const auto call = reinterpret_cast<PyFunctionObject*>(callable)->vectorcall;
        if (call)
            return Owned<>::steal(
                call(callable, words + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
    }
    return Owned<>::steal(PyObject_CallOneArg(callable, argument));
}

}  // namespace guardtree
