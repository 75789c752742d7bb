// Checks the frame layout at load time, with a live frame of known contents.
// SPDX-License-Identifier: MIT
#include "cpython/cpython.h"

#include "probe.h"

#include "views/frame_view.h"

namespace guardtree {
namespace {

struct Probe {
    PyObject* function = nullptr;
    PyObject* argument = nullptr;
    PyObject* rest = nullptr;
    _PyFrameEvalFunction previous = nullptr;
    const char* problem = "the evaluator never reached the probe's hook";
};

Probe* active = nullptr;

const char* compare(const Probe& probe, const CPython::Frame* frame) noexcept {
    auto* function = reinterpret_cast<PyFunctionObject*>(probe.function);
    auto* code = reinterpret_cast<PyCodeObject*>(function->func_code);
    if (CPython::code(frame) != code)
        return "a frame's code object is not where it should be";
    if (CPython::function(frame) != probe.function) {
        return "a frame's function is not where it should be";
    }
    if (CPython::globals(frame) != function->func_globals ||
        CPython::builtins(frame) != function->func_builtins) {
        return "a frame's globals are not where they should be";
    }
    if (CPython::namespace_of(frame)) return "a function's frame has a namespace";
    if (!CPython::at_start(frame, code))
        return "a new frame is not at its first instruction";
    if (frame->owner != FRAME_OWNED_BY_THREAD || frame->frame_obj) {
        return "a new frame is not the thread's own";
    }
    const FrameView view(frame);
    if (view.local(0).get() != probe.argument) return "an argument is not in its slot";
    PyObject* rest = view.local(1).get();
    if (!rest || !PyTuple_CheckExact(rest) || PyTuple_GET_SIZE(rest) != 1 ||
        PyTuple_GET_ITEM(rest, 0) != probe.rest) {
        return "*args is not in its slot";
    }
    if (view.local(2).get()) return "an unbound local does not read as unbound";
    return nullptr;
}

PyObject* probe_hook(PyThreadState* thread, CPython::Frame* frame, int throwing) {
    if (active && !throwing) {
        active->problem = compare(*active, frame);
        active = nullptr;
    }
    return _PyEval_EvalFrameDefault(thread, frame, throwing);
}

std::string sentence(const char* problem) {
    return std::string("guardtree was built for CPython ") + PY_VERSION +
           " and runs in " + Py_GetVersion() + ", where " + problem +
           ". Install a guardtree that was built for this interpreter "
           "(pip install --force-reinstall --no-binary guardtree guardtree).";
}

/// `def probe(argument, *rest): local = argument` with an empty namespace.
Owned<> probe_function() {
    auto names = Owned<>::steal(PyDict_New());
    if (!names) return {};
    auto done = Owned<>::steal(PyRun_String(
        "def probe(argument, *rest):\n    local = argument\n    return local\n",
        Py_file_input, names.get(), names.get()));
    if (!done) return {};
    return Owned<>::share(PyDict_GetItemString(names.get(), "probe"));
}

}  // namespace

std::string layout_problem() {
    if (const char* problem = CPython::layout_mismatch()) return sentence(problem);
    Probe probe;
    const Owned<> function = probe_function();
    const auto argument = Owned<>::steal(PyList_New(0));
    const auto rest = Owned<>::steal(PyList_New(0));
    if (!function || !argument || !rest) {
        PyErr_Clear();
        return sentence("there is no memory for the probe");
    }
    probe.function = function.get();
    probe.argument = argument.get();
    probe.rest = rest.get();
    PyInterpreterState* interpreter = PyInterpreterState_Get();
    probe.previous = _PyInterpreterState_GetEvalFrameFunc(interpreter);
    _PyInterpreterState_SetEvalFrameFunc(interpreter, probe_hook);
    active = &probe;
    auto result = Owned<>::steal(PyObject_CallFunctionObjArgs(
        probe.function, probe.argument, probe.rest, nullptr));
    active = nullptr;
    _PyInterpreterState_SetEvalFrameFunc(interpreter, probe.previous);
    if (!result) PyErr_Clear();
    if (!probe.problem && result.get() != probe.argument) {
        return sentence("a frame does not return what it was given");
    }
    return probe.problem ? sentence(probe.problem) : std::string();
}

}  // namespace guardtree
