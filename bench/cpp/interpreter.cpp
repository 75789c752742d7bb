// Starting CPython, and evaluating text in it.
// SPDX-License-Identifier: MIT
#include "interpreter.h"

#include <cstdio>
#include <cstdlib>

#include "../../framelocals/probe.h"

namespace guardtree::bench {

void start_interpreter() {
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    config.use_hash_seed = 1;
    config.hash_seed = 0;
    config.parse_argv = 0;
    config.install_signal_handlers = 0;
    PyStatus status = PyConfig_SetBytesString(&config, &config.program_name,
                                              GUARDTREE_PYTHON_EXECUTABLE);
    if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) Py_ExitStatusException(status);
    PyGC_Disable();
    const std::string problem = layout_problem();
    if (!problem.empty()) give_up(problem);
}

Owned<> new_globals() {
    auto globals = Owned<>::steal(PyDict_New());
    if (!globals ||
        PyDict_SetItemString(globals.get(), "__builtins__", PyEval_GetBuiltins()) < 0) {
        give_up("no memory for a namespace");
    }
    return globals;
}

Owned<> evaluated(const std::string& expression, PyObject* names) {
    const Owned<> globals = names ? Owned<>::share(names) : new_globals();
    auto value = Owned<>::steal(
        PyRun_String(expression.c_str(), Py_eval_input, globals.get(), globals.get()));
    if (!value) give_up("cannot evaluate: " + expression);
    return value;
}

Owned<> defined(const std::string& source, const char* name, PyObject* globals) {
    const auto done =
        Owned<>::steal(PyRun_String(source.c_str(), Py_file_input, globals, globals));
    PyObject* found = done ? PyDict_GetItemString(globals, name) : nullptr;
    if (!found) give_up("cannot run:\n" + source);
    return Owned<>::share(found);
}

void give_up(const std::string& sentence) {
    if (PyErr_Occurred()) PyErr_Print();
    std::fprintf(stderr, "bench_evaluate: %s\n", sentence.c_str());
    std::exit(1);
}

}  // namespace guardtree::bench
