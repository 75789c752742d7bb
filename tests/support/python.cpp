// Evaluating Python text for tests.
// SPDX-License-Identifier: MIT
#include "python.h"

#include <fstream>
#include <sstream>

#include "../../framelocals/exception.h"

namespace guardtree::tests {
namespace {

Owned<> checked(PyObject* result, const std::string& text) {
    if (result) return Owned<>::steal(result);
    throw PythonError(taken_error_text() + "\nin: " + text);
}

}  // namespace

std::string taken_error_text() {
    const Owned<> exception = take_exception();
    if (!exception) return {};
    const auto text = Owned<>::steal(PyObject_Str(exception.get()));
    return std::string(Py_TYPE(exception.get())->tp_name) + ": " +
           (text ? text_of_str(text.get()) : "?");
}

Namespace::Namespace() : dict_(Owned<>::steal(PyDict_New())) {
    set("__builtins__", builtins());
    const auto name = Owned<>::steal(PyUnicode_FromString("builtins"));
    set("__name__", name.get());
}

Owned<> Namespace::eval(const std::string& expression) const {
    return checked(PyRun_String(expression.c_str(), Py_eval_input, dict(), dict()),
                   expression);
}

void Namespace::run(const std::string& statements) const {
    checked(PyRun_String(statements.c_str(), Py_file_input, dict(), dict()),
            statements);
}

void Namespace::run_file(const std::string& name) const {
    std::ifstream file(std::string(GUARDTREE_TEST_SUPPORT) + "/" + name);
    std::ostringstream text;
    text << file.rdbuf();
    if (text.str().empty()) throw PythonError("cannot read tests/support/" + name);
    run(text.str());
}

void Namespace::load_oracle() const {
    // A bare package: the real one would want its extension module.
    run("import collections, sys, types, weakref\n"
        "package = types.ModuleType('guardtree')\n"
        "package.__path__ = ['" GUARDTREE_TEST_PACKAGE
        "']\n"
        "sys.modules.setdefault('guardtree', package)\n"
        "from guardtree.oracle import *\n"
        "globals().update(NAMESPACE)\n"
        "try:\n  import numpy\nexcept ImportError:\n  numpy = None\n");
}

bool Namespace::is_true(const std::string& expression) const {
    return PyObject_IsTrue(eval(expression).get()) == 1;
}

void Namespace::set(const std::string& name, PyObject* value) const {
    if (PyDict_SetItemString(dict(), name.c_str(), value) < 0) {
        throw PythonError(taken_error_text());
    }
}

Owned<PyCodeObject> Namespace::code(const std::string& text) const {
    run(text);
    const Owned<> code = eval("f.__code__");
    return Owned<PyCodeObject>::share(reinterpret_cast<PyCodeObject*>(code.get()));
}

bool can_run(std::string_view expression) {
    if (expression.find("torch.") != std::string_view::npos) return false;
    if (expression.find("numpy") == std::string_view::npos) return true;
    static const bool has_numpy = [] {
        const auto module = Owned<>::steal(PyImport_ImportModule("numpy"));
        PyErr_Clear();
        return static_cast<bool>(module);
    }();
    return has_numpy;
}

Owned<> tuple_of(std::initializer_list<PyObject*> items) {
    auto tuple = Owned<>::steal(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
    Py_ssize_t i = 0;
    for (PyObject* item : items) {
        PyTuple_SET_ITEM(tuple.get(), i++, Owned<>::share(item).release());
    }
    return tuple;
}

std::string text_of_str(PyObject* text) {
    const char* data = PyUnicode_AsUTF8(text);
    if (!data) throw PythonError(taken_error_text());
    return data;
}

}  // namespace guardtree::tests
