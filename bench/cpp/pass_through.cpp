// A PEP 523 evaluator that only tail-calls CPython's own: the baseline for the hook.
// SPDX-License-Identifier: MIT
#include "../../framelocals/cpython/cpython.h"

namespace guardtree {
namespace {

_PyFrameEvalFunction replaced = nullptr;

PyObject* pass_through(PyThreadState* thread, CPython::Frame* frame, int throwing) {
    return _PyEval_EvalFrameDefault(thread, frame, throwing);
}

PyObject* install(PyObject*, PyObject*) {
    PyInterpreterState* interpreter = PyInterpreterState_Get();
    const _PyFrameEvalFunction present =
        _PyInterpreterState_GetEvalFrameFunc(interpreter);
    if (present != pass_through) replaced = present;
    _PyInterpreterState_SetEvalFrameFunc(interpreter, pass_through);
    Py_RETURN_NONE;
}

PyObject* uninstall(PyObject*, PyObject*) {
    PyInterpreterState* interpreter = PyInterpreterState_Get();
    if (_PyInterpreterState_GetEvalFrameFunc(interpreter) == pass_through) {
        _PyInterpreterState_SetEvalFrameFunc(interpreter, replaced);
    }
    Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"install", install, METH_NOARGS,
     "Put the evaluator in, in place of the present one."},
    {"uninstall", uninstall, METH_NOARGS, "Put back what install found."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_pass_through",
                          "A PEP 523 evaluator that does nothing: a baseline.",
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace guardtree

PyMODINIT_FUNC PyInit__pass_through() {
    return PyModule_Create(&guardtree::definition);
}
