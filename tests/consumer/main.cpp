// A third party: one guard, evaluated on a mapping, with installed headers only.
// SPDX-License-Identifier: MIT
#include <array>
#include <cstdio>

#include <guardtree/guards/run/evaluate.h>
#include <guardtree/guards/run/explain.h>

#ifndef PYTHON
#    define PYTHON "python3"
#endif

namespace {

using guardtree::Owned;

/// `type(x) is int` for locals given as Python text.
guardtree::Verdict ask(const guardtree::Program& program, PyCodeObject* code,
                       PyObject* names, const char* text) {
    const auto locals = Owned<>::steal(PyRun_String(text, Py_eval_input, names, names));
    std::array<guardtree::SlotWord, 1> storage{};
    const guardtree::Scope scope{.code = code};
    guardtree::MappingView view(scope, storage);
    if (!view.fill(locals.get(), program.names())) return guardtree::Verdict::error;
    std::array<PyObject*, 8> values{};
    Owned<> error;
    return guardtree::evaluate(program, view, values.data(), error);
}

int run() {
    const auto names = Owned<>::steal(PyDict_New());
    PyDict_SetItemString(names.get(), "__builtins__", PyEval_GetBuiltins());
    const auto made = Owned<>::steal(
        PyRun_String("def f(x): pass", Py_file_input, names.get(), names.get()));
    PyObject* f = PyDict_GetItemString(names.get(), "f");
    auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GetCode(f));

    guardtree::Tree tree;
    guardtree::Diagnostic problem;
    guardtree::Local local;
    guardtree::TypeMatch type_match;
    const auto name = Owned<>::steal(PyUnicode_FromString("x"));
    PyObject* const local_operands[] = {name.get()};
    PyObject* const type_operands[] = {guardtree::as_object(&PyLong_Type)};
    guardtree::NodeId node = 0;
    guardtree::Program program;
    const bool is_built =
        read_operands(local_operands, local, tree.references(), problem) &&
        read_operands(type_operands, type_match, tree.references(), problem) &&
        tree.child(0, guardtree::Op(local), node, problem) &&
        tree.check(node, guardtree::Op(type_match), problem) &&
        guardtree::Program::compile(tree, code, program, problem);
    if (!is_built) {
        std::printf("%s\n", problem.message.c_str());
        return 1;
    }
    const bool passes =
        ask(program, code, names.get(), "{'x': 3}") == guardtree::Verdict::pass;
    const bool fails =
        ask(program, code, names.get(), "{'x': True}") == guardtree::Verdict::fail;
    std::printf("%s: %d %d\n", python_text(guardtree::Op(type_match), "x").c_str(),
                passes, fails);
    return passes && fails ? 0 : 2;
}

}  // namespace

int main() {
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    PyConfig_SetBytesString(&config, &config.program_name, PYTHON);
    const PyStatus status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) return 3;
    const int result = run();
    Py_FinalizeEx();
    return result;
}
