// A libFuzzer target: no text crashes the parser, and what it reads is written and read
// as the same tree.
// SPDX-License-Identifier: MIT
#include <Python.h>

#include "../../dsl/text/text.h"

#include "fuzz.h"

namespace guardtree::tests {
namespace {

/// The guarded function's scope.
Scope made_scope() {
    start();
    PyObject* globals = PyModule_GetDict(PyImport_AddModule("__main__"));
    const auto made = Owned<>::steal(PyRun_String(
        "FLAG = True\ndef f(x, y, cfg, items): pass", Py_file_input, globals, globals));
    PyObject* function = PyDict_GetItemString(globals, "f");
    return {.code = reinterpret_cast<PyCodeObject*>(PyFunction_GetCode(function)),
            .globals = globals,
            .builtins = PyEval_GetBuiltins()};
}

void try_text(std::string_view text, const Scope& scope) {
    Tree tree;
    Diagnostic problem;
    const bool is_read = parse_guards(text, {scope, nullptr}, tree, problem);
    demand(!PyErr_Occurred(), "an exception is pending after", text);
    demand(is_read != static_cast<bool>(problem), "no reason was given for", text);
    if (!is_read) return;
    const GuardText written = text_of(tree, scope);
    const auto names = Owned<>::steal(PyDict_New());
    for (const auto& [name, object] : written.names) {
        PyDict_SetItemString(names.get(), name.c_str(), object.get());
    }
    Tree again;
    demand(parse_guards(written.text, {scope, names.get()}, again, problem),
           problem.message.c_str(), written.text);
    demand(same_tree(tree, again), "another tree is read from", written.text);
}

}  // namespace
}  // namespace guardtree::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const guardtree::Scope scope = guardtree::tests::made_scope();
    guardtree::tests::try_text({reinterpret_cast<const char*>(data), size}, scope);
    return 0;
}
