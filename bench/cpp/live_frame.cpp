// Entering a frame through a temporary PEP 523 evaluator.
// SPDX-License-Identifier: MIT
// clang-format off: private headers come before everything that has Python.h.
#include "../../framelocals/cpython/cpython.h"
// clang-format on

#include <utility>
#include <vector>

#include "interpreter.h"
#include "live_frame.h"

namespace guardtree::bench {
namespace {

struct Request {
    PyObject* function;
    const std::function<void(const CPython::Frame*)>& use;
};

const Request* request = nullptr;

PyObject* on_entry(PyThreadState* thread, CPython::Frame* frame, int throwing) {
    if (request && !throwing && CPython::function(frame) == request->function) {
        std::exchange(request, nullptr)->use(frame);
    }
    return _PyEval_EvalFrameDefault(thread, frame, throwing);
}

}  // namespace

void in_frame_of(PyObject* function, std::span<const Owned<>> arguments,
                 const std::function<void(const CPython::Frame*)>& use) {
    std::vector<PyObject*> vector;
    for (const Owned<>& argument : arguments) vector.push_back(argument.get());
    const Request wanted{function, use};
    PyInterpreterState* interpreter = PyInterpreterState_Get();
    const _PyFrameEvalFunction before =
        _PyInterpreterState_GetEvalFrameFunc(interpreter);
    _PyInterpreterState_SetEvalFrameFunc(interpreter, on_entry);
    request = &wanted;
    const auto result = Owned<>::steal(
        PyObject_Vectorcall(function, vector.data(), vector.size(), nullptr));
    _PyInterpreterState_SetEvalFrameFunc(interpreter, before);
    if (!result) give_up("a measured function raised");
    if (std::exchange(request, nullptr)) give_up("a measured function was not entered");
}

}  // namespace guardtree::bench
