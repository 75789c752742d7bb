// Guard trees as text, for Python: parse(), GuardManager.to_text() and simplified().
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include "../../dsl/text/patterns.h"
#include "../../dsl/text/text.h"
#include "../../guards/tree/simplify.h"
#include "../bindings.h"
#include "../guard_manager.h"

namespace guardtree {
namespace {

[[noreturn]] void throw_syntax_error(const Diagnostic& problem,
                                     const TextPlace& where) {
    const py::object type =
        py::module_::import("guardtree.texts").attr("GuardSyntaxError");
    const std::string hint = where.hint.empty() ? "" : "; hint: " + where.hint;
    const py::object error =
        type(where.sentence + hint,
             py::make_tuple("<guards>", where.line, where.column, where.text,
                            where.line, where.end_column));
    error.attr("report") = problem.message;
    PyErr_SetObject(type.ptr(), error.ptr());
    throw py::error_already_set();
}

/// The names in `given` as exact strs, because a subclass may have an `__eq__`, which
/// is user code. Ignores keys that are not strs.
py::dict plain_names(const py::object& given) {
    py::dict names;
    if (given.is_none()) return names;
    if (!PyDict_Check(given.ptr())) {
        Diagnostic problem;
        refuse_operand(problem, "a dict of names to objects, or None", given.ptr());
        problem.message = "parse(names): " + problem.message;
        throw_diagnostic(problem);
    }
    Py_ssize_t place = 0;
    PyObject* name = nullptr;
    PyObject* object = nullptr;
    while (PyDict_Next(given.ptr(), &place, &name, &object)) {
        if (!PyUnicode_Check(name)) continue;
        const auto exact = Owned<>::steal(PyUnicode_FromObject(name));
        if (!exact || PyDict_SetItem(names.ptr(), exact.get(), object) < 0)
            throw py::error_already_set();
    }
    return names;
}

py::object parse(const py::str& text, const py::object& scope, const py::object& names,
                 bool allow_calls) {
    const py::dict given = plain_names(names);
    auto guards = std::make_unique<GuardTree>(scope);
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (!data) throw py::error_already_set();
    const TextNames known{scope_of(guards->code(), guards->function()), given.ptr(),
                          allow_calls};
    Diagnostic problem;
    TextPlace where;
    if (!parse_guards({data, static_cast<size_t>(size)}, known, guards->tree, problem,
                      &where)) {
        if (problem.exception == PyExc_SyntaxError) throw_syntax_error(problem, where);
        throw_diagnostic(problem);
    }
    return GuardManager::to_python(GuardManager(std::move(guards)));
}

py::tuple to_text(const py::object& self) {
    const GuardTree& guards = GuardManager::of(self).tree();
    const GuardText made =
        text_of(guards.tree, scope_of(guards.code(), guards.function()));
    if (!made.refusal.empty()) throw py::value_error("to_text: " + made.refusal);
    py::dict names;
    for (const auto& [name, object] : made.names) {
        names[name.c_str()] = py::reinterpret_borrow<py::object>(object.get());
    }
    return py::make_tuple(made.text, names);
}

py::object simplify(const py::object& self) {
    const GuardTree& guards = GuardManager::of(self).tree();
    Simplification found;
    Tree made = simplified(guards.tree, found);
    const py::object manager = GuardManager::to_python(
        GuardManager(std::make_unique<GuardTree>(guards, std::move(made))));
    return py::module_::import("guardtree.descriptions")
        .attr("Simplification")(manager, found.removed, found.contradictions);
}

}  // namespace

void bind_text(py::module_& module, py::handle manager) {
    define_function(
        module, "parse", calling<&parse>, py::arg("text"), py::arg("scope"),
        py::arg("names") = py::none(), py::kw_only(), py::arg("allow_calls") = true,
        "A GuardManager for `scope` (a function, a code object, or the frame given to "
        "a callback) with the guards that `text` claims: Python expressions joined by "
        "`and` (the documentation's page 'Text and JSON of guards'). Names are the "
        "scope's variables, its globals, builtins; `names` gives objects names in the "
        "text. Raises SyntaxError, NameError, or what the operand of a guard refuses, "
        "with the place and what was expected. Runs no code of the text's. A check "
        "runs what the text names, though: `eval(x)` calls eval. With "
        "allow_calls=False such guards are refused (ValueError).");
    define_function(module, "_reserved_words", [] {
        py::list words;
        for (const std::string_view word : reserved_words())
            words.append(py::str(word.data(), word.size()));
        return words;
    });
    define(manager, "simplified", calling<&simplify>,
           "A Simplification: new guards for the same scope that give the same "
           "verdicts, without those that others imply; what went and why; and which "
           "guards exclude each other, so that nothing passes.");
    define(
        manager, "to_text", calling<&to_text>,
        "`(text, names)` of the whole tree: `parse(text, scope, names)` gives the same "
        "tree, and Python means the same by the text. Objects without a name that "
        "leads to them (in a module or class, by their own account) are called `_0`, "
        "`_1`, ... in it; `names` has them. Notes are not in it. Raises ValueError "
        "where paths nest deeper than parse reads (200 calls, 1000 steps).");
}

}  // namespace guardtree
