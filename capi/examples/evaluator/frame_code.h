// The code object of a frame that has just been entered, for which CPython 3.11 has no
// public function: the only place in this example with a private header.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#if PY_VERSION_HEX < 0x030C0000
#    define Py_BUILD_CORE
#    include <internal/pycore_frame.h>
#    undef Py_BUILD_CORE
#endif

/// A new reference.
inline PyObject* code_of_frame(_PyInterpreterFrame* frame) {
#if PY_VERSION_HEX < 0x030C0000
    PyObject* code = reinterpret_cast<PyObject*>(frame->f_code);
    Py_IncRef(code);
    return code;
#else
    return PyUnstable_InterpreterFrame_GetCode(frame);
#endif
}
