// guard_function: guards the calls of one function at its entry, without a hook.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include "../../framehook/guarded_function.h"
#include "../../framehook/replacement.h"
#include "../bindings.h"
#include "../entries.h"
#include "../guard_manager.h"
#include "../table_entry.h"

namespace guardtree {

/// The Python type GuardedFunction.
struct FunctionGuards {
    Shared<GuardedFunction> guarded;

    /// Throws ReferenceError if the garbage collector has emptied it.
    GuardedFunction& of() const {
        if (guarded) return *guarded;
        PyErr_SetString(PyExc_ReferenceError,
                        "this was emptied by the garbage collector");
        throw py::error_already_set();
    }

    int traverse(visitproc visit, void* arg) const {
        return guarded.is_only() ? guarded->traverse(visit, arg) : 0;
    }

    void clear() {
        if (guarded) guarded->restore();
    }
};

}  // namespace guardtree

GUARDTREE_BOXED(guardtree::FunctionGuards, "GuardedFunction")

namespace guardtree {
namespace {

/// The attribute in which a function keeps its guards, so that the garbage collector
/// sees them.
constexpr const char* attribute = "__guardtree__";

GuardedFunction& guards_of(const py::object& self) {
    return initialised<FunctionGuards>(self).of();
}

PyFunctionObject* function_of_python(py::handle given) {
    PyObject* object = given.ptr();
    if (PyMethod_Check(object)) object = PyMethod_GET_FUNCTION(object);
    if (PyFunction_Check(object)) return reinterpret_cast<PyFunctionObject*>(object);
    Diagnostic problem;
    refuse_operand(problem,
                   "a Python function (of a class or static method: its __func__)",
                   given.ptr());
    problem.message = "guard_function(function): " + problem.message;
    throw_diagnostic(problem);
}

/// The guards of `function`, if they still match its code. Otherwise None.
py::object present_guards(PyFunctionObject* function) {
    const py::handle object = as_object(function);
    const py::object found = py::getattr(object, attribute, py::none());
    const FunctionGuards* guards = Box<FunctionGuards>::find(found.ptr());
    if (!guards) return py::none();
    const auto& guarded = guards->guarded;
    // functools.wraps copies the attribute to other functions.
    if (!guarded || guarded->is_restored() || guarded->function() != function)
        return py::none();
    if (function->func_code == as_object(guarded->code())) return found;
    guarded->restore();
    return py::none();
}

py::object guard_function(py::handle given) {
    PyFunctionObject* function = function_of_python(given);
    py::object present = present_guards(function);
    if (!present.is_none()) return present;
    Shared<GuardedFunction> made = GuardedFunction::take(function);
    if (!made) throw py::error_already_set();
    py::object guards = py::cast(FunctionGuards{std::move(made)});
    py::setattr(as_object(function), attribute, guards);
    return guards;
}

/// Throws ValueError for names that cannot be additional keyword arguments of the call.
void require_free_names(PyCodeObject* code, const Bindings& bindings) {
    if (!bindings.names) return;
    const std::string owner = short_repr(code->co_qualname);
    if (code->co_flags & CO_VARKEYWORDS) {
        throw py::value_error(
            "bindings: a call of " + owner +
            " may have any keywords, and these could be among them: use a Table "
            "(lookup_call_bound), or guards of a function without ** arguments");
    }
    for (const py::handle each : py::handle(bindings.names.get())) {
        PyObject* name = each.ptr();
        if (!is_plain_name(name)) {
            throw py::value_error(
                "bindings: expected names of keyword arguments (ASCII identifiers), "
                "found " +
                short_repr(name));
        }
        const int slot = find_slot(code, name);
        if (slot < 0 || slot >= argument_slots(code)) continue;
        throw py::value_error("bindings: " + short_repr(name) + " is an argument of " +
                              owner + ": use another name");
    }
}

/// For guarded functions on CPython 3.11: the names, with the same rules.
py::tuple names_for_calls(py::handle code, py::handle guards, py::handle bindings) {
    const Bindings read = read_bindings(bindings, guards);
    require_free_names(code_of_python(code), read);
    return read.names ? py::reinterpret_borrow<py::tuple>(read.names.get())
                      : py::tuple();
}

/// Creates a function from code. Its bound locals become arguments.
Owned<> function_of_code(GuardedFunction& guarded, py::handle code,
                         const Bindings& bindings) {
    auto* replacement = reinterpret_cast<PyCodeObject*>(code.ptr());
    py::object called = py::reinterpret_borrow<py::object>(code);
    if (bindings.names) {
        bindable_slots(bindings, replacement);
        const py::object with_arguments =
            py::module_::import("guardtree.bytecode").attr("with_arguments");
        called = with_arguments(code, py::handle(bindings.names.get()));
    }
    Owned<> made =
        guarded.function_of(replacement, reinterpret_cast<PyCodeObject*>(called.ptr()));
    if (!made) throw py::error_already_set();
    return made;
}

/// The callable for a hit: the given callable, or a function created from code.
Owned<> target_of(GuardedFunction& guarded, py::handle given,
                  const Bindings& bindings) {
    PyObject* target = given.ptr();
    require_free_names(guarded.code(), bindings);
    if (PyCode_Check(target)) return function_of_code(guarded, given, bindings);
    if (target == as_object(guarded.function())) {
        throw py::value_error(
            "the guarded function cannot be its own target, which would call itself "
            "without end: give other code, or another callable");
    }
    if (!PyCallable_Check(target)) {
        Diagnostic problem;
        refuse_operand(problem, "a code object or a callable", target);
        problem.message = "add(target): " + problem.message;
        throw_diagnostic(problem);
    }
    return Owned<>::share(target);
}

TableEntryHandle add(const py::object& self, py::handle guards, py::handle target,
                     py::handle bindings) {
    GuardedFunction& guarded = guards_of(self);
    if (guarded.is_restored() || !guarded.function()) {
        throw py::value_error(
            "this guards no function any more: call guard_function again");
    }
    const Tree& tree = GuardManager::of(guards).tree().tree;
    const Bindings bound = read_bindings(bindings, guards);
    auto entry = make_entry(tree, guarded.code(), target_of(guarded, target, bound),
                            Owned<>::share(guards.ptr()), bound);
    guarded.add(entry, PyCode_Check(target.ptr()));
    return {entry};
}

void remove(const py::object& self, const TableEntryHandle& handle) {
    if (!guards_of(self).remove(*handle.entry))
        throw py::value_error("this entry is not in the table");
}

bool restore(const py::object& self) {
    GuardedFunction& guarded = guards_of(self);
    PyObject* function = as_object(guarded.function());
    const bool is_back = guarded.restore();
    if (function && is_back && py::getattr(function, attribute, py::none()).is(self))
        py::delattr(function, attribute);
    return is_back;
}

py::list entries(const py::object& self) {
    py::list all;
    for (const auto& each : guards_of(self).table()->entries())
        all.append(TableEntryHandle{each});
    return all;
}

py::dict stats(const py::object& self) {
    const GuardedFunction& guarded = guards_of(self);
    uint64_t errors = 0;
    for (const auto& each : guarded.table()->entries()) errors += each->errors;
    py::dict counts;
    counts["hits"] = guarded.hits();
    counts["misses"] = guarded.misses;
    counts["errors"] = errors;
    counts["entries"] = guarded.table()->entries().size();
    counts["other_code"] = guarded.other_code;
    return counts;
}

}  // namespace

void bind_functions(py::module_& module) {
    BoxedClass<FunctionGuards> guards(
        module, Made::by_guardtree,
        "The guarded calls of one function: what guard_function gives.");
    guards
        .def("add", calling<&add>, py::arg("guards"), py::arg("target"), py::kw_only(),
             py::arg("bindings") = py::none(),
             "Adds guards, as they are now, behind all others. `target`: what a call "
             "that passes them runs. Code (of the same arguments) runs with the "
             "function's globals, closure and defaults; any other callable is called "
             "with the arguments as the call gave them. `bindings`: a dict of names to "
             "paths of the guards; a callable gets the very values that they checked "
             "as keyword arguments, code as locals of its own.")
        .def("remove", calling<&remove>, py::arg("entry"), "Takes an entry out.")
        .def("restore", calling<&restore>,
             "Forgets all entries and gives the calls back. False where another "
             "library has taken them over since: it goes on calling through, plain.")
        .def("entries", calling<&entries>)
        .def("stats", calling<&stats>,
             "Counts of calls: hits, misses (looked up, ran plain), other_code (ran "
             "plain: the function's __code__ was another); errors of guards; entries.")
        .def("__len__",
             [](const py::object& self) {
                 return guards_of(self).table()->entries().size();
             })
        .def(
            "__reduce__",
            [](const py::object&) {
                return py::make_tuple(py::type::of(py::none()), py::tuple());
            },
            "None: a function that is copied with its attributes has no entries.")
        .def_property_readonly(
            "function",
            [](const py::object& self) {
                return object_or_none(as_object(guards_of(self).function()));
            },
            "The function, or None when it is gone.");
    define_function(
        module, "_names_for_calls", calling<&names_for_calls>, py::arg("code"),
        py::arg("guards"), py::arg("bindings"),
        "The names of bindings, for calls of the code's function; ValueError for "
        "those that it could use itself.");
    define_function(
        module, "guard_function", calling<&guard_function>, py::arg("function"),
        "Guards the calls of one function where they arrive, before there is a frame; "
        "all else in the process runs at full speed, and no hook is needed. Gives its "
        "GuardedFunction, the same one each time. It lives as long as the function. "
        "NotImplementedError on CPython 3.11.");
}

}  // namespace guardtree
