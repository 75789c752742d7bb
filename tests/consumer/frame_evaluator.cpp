// A frame evaluator of a third party, in C++ only: guards written in the DSL decide, as
// each frame is entered, whether a special version of the function would run.
// SPDX-License-Identifier: MIT
// clang-format off: the private headers of CPython come before Python.h.
#include <guardtree/framelocals/views/frame_view.h>
// clang-format on

#include <cstdio>
#include <string>
#include <utility>

#include <guardtree/dsl/cpp/expressions.h>
#include <guardtree/framelocals/probe.h>
#include <guardtree/guards/lookup/lookup.h>

#ifndef PYTHON
#    define PYTHON "python3"
#endif

namespace {

using namespace guardtree::dsl;
using guardtree::Lookup;
using guardtree::Owned;

constexpr const char* source =
    "class Model:\n"
    "    training = False\n"
    "model = Model()\n"
    "def step(model, x, items, n): return n\n";

/// What the special version was made for. The class is known when the program runs.
constexpr auto model_type = placeholder<0>;
constexpr auto guards =
    tree(local("model").type_match(model_type).attr("training").is_false(),
         local("x").type_match(&PyFloat_Type),
         local("items").type_match(&PyList_Type).item(0).one_of("cpu", "cuda"),
         0 < local("n") && local("n") % 8 == 0, length(local("items")) == 2);

/// Calls, and whether the guards pass.
struct Call {
    const char* text;
    bool matches;
};

constexpr Call calls[] = {
    {"step(model, 1.5, ['cpu', 0], 16)", true},
    {"step(model, 1.5, ['cuda', None], n=8)", true},
    {"step(model, 1, ['cpu', 0], 16)", false},       // x is an int
    {"step(Model, 1.5, ['cpu', 0], 16)", false},     // the class itself
    {"step(model, 1.5, ['tpu', 0], 16)", false},     // another device
    {"step(model, 1.5, ('cpu', 0), 16)", false},     // a tuple
    {"step(model, 1.5, ['cpu', 0, 1], 16)", false},  // three items
    {"step(model, 1.5, ['cpu', 0], 12)", false},     // 12 % 8 is 4
    {"step(model, 1.5, ['cpu', 0], -8)", false},
};

// What the hook sees: one guarded code object, and the answer for its last frame.
const guardtree::Table* table = nullptr;
PyCodeObject* guarded = nullptr;
bool has_matched = false;

PyObject* on_entry(PyThreadState* thread, guardtree::CPython::Frame* frame,
                   int throwing) {
    if (!throwing && guardtree::CPython::code(frame) == guarded) {
        const guardtree::FrameView view(frame);
        const auto mode = Lookup::mode_of(*table);
        Lookup lookup(*table, view, GUARDTREE_ROOM(Lookup::room(*table, view, mode)),
                      mode);
        has_matched = lookup.find() != nullptr;
    }
    return _PyEval_EvalFrameDefault(thread, frame, throwing);
}

/// How many calls got the wrong answer.
int run_calls(PyObject* names) {
    int wrong = 0;
    PyInterpreterState* interpreter = PyInterpreterState_Get();
    _PyInterpreterState_SetEvalFrameFunc(interpreter, on_entry);
    for (const Call& call : calls) {
        has_matched = false;
        const auto result =
            Owned<>::steal(PyRun_String(call.text, Py_eval_input, names, names));
        const bool is_right = result && has_matched == call.matches;
        std::printf("%-40s %s%s\n", call.text,
                    has_matched ? "matches" : "does not match",
                    is_right ? "" : "  <- wrong");
        if (!is_right) ++wrong;
    }
    _PyInterpreterState_SetEvalFrameFunc(interpreter, _PyEval_EvalFrameDefault);
    return wrong;
}

int run() {
    const auto names = Owned<>::steal(PyDict_New());
    PyDict_SetItemString(names.get(), "__builtins__", PyEval_GetBuiltins());
    const auto made =
        Owned<>::steal(PyRun_String(source, Py_file_input, names.get(), names.get()));
    if (!made) return 1;
    PyObject* model = PyDict_GetItemString(names.get(), "Model");
    PyObject* step = PyDict_GetItemString(names.get(), "step");
    guarded = reinterpret_cast<PyCodeObject*>(PyFunction_GetCode(step));

    guardtree::Tree to;
    guardtree::Diagnostic problem;
    guardtree::Program program;
    if (!build(guards, to, problem, model) ||
        !guardtree::Program::compile(to, guarded, program, problem)) {
        std::printf("%s\n", problem.message.c_str());
        return 1;
    }
    std::printf("%s", to.text().c_str());
    const auto entries =
        guardtree::Table().with(guardtree::make_shared_counted<guardtree::Entry>(
            std::move(program), Owned<>(), Owned<>()));
    table = entries.get();
    const int wrong = run_calls(names.get());
    table = nullptr;

    // A function is no type: the reason comes as a value, nothing is raised.
    const bool is_refused = !build(guards, to, problem, step) && !PyErr_Occurred();
    std::printf("%s\n", problem.message.c_str());
    return wrong == 0 && is_refused ? 0 : 2;
}

}  // namespace

int main() {
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    PyConfig_SetBytesString(&config, &config.program_name, PYTHON);
    const PyStatus status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) return 3;
    const std::string mismatch = guardtree::layout_problem();
    if (!mismatch.empty()) {
        std::printf("%s\n", mismatch.c_str());
        return 3;
    }
    const int result = run();
    Py_FinalizeEx();
    return result;
}
