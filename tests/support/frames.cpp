// The hook behind call_viewed.
// SPDX-License-Identifier: MIT
#include "../../framelocals/cpython/cpython.h"

#include "frames.h"

#include "../../framelocals/views/frame_view.h"

#include "python.h"

namespace guardtree::tests {
namespace {

PyObject* watched_code = nullptr;
const std::function<void(const View&)>* observer = nullptr;

PyObject* hook(PyThreadState* thread, CPython::Frame* frame, int throwing) {
    if (as_object(CPython::code(frame)) == watched_code) {
        watched_code = nullptr;
        const FrameView view(frame);
        (*observer)(view);
    }
    return _PyEval_EvalFrameDefault(thread, frame, throwing);
}

}  // namespace

Owned<> call_viewed(PyObject* function, PyObject* arguments,
                    const std::function<void(const View&)>& look) {
    watched_code = PyFunction_GetCode(function);
    observer = &look;
    PyInterpreterState* interpreter = PyInterpreterState_Get();
    _PyInterpreterState_SetEvalFrameFunc(interpreter, hook);
    auto result = Owned<>::steal(PyObject_CallObject(function, arguments));
    _PyInterpreterState_SetEvalFrameFunc(interpreter, _PyEval_EvalFrameDefault);
    if (!result) throw PythonError(taken_error_text());
    return result;
}

}  // namespace guardtree::tests
