// guard_function: guards the calls of one function at its entry, without a hook.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include "../../framehook/guarded_function.h"
#include "../../framehook/replacement.h"
#include "../bindings.h"
#include "../dispatch/guarded_entries.h"
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

GuardedCalls* calls_of_function(py::handle self) {
    if (!PyObject_TypeCheck(self.ptr(), Box<FunctionGuards>::type)) return nullptr;
    return &initialised<FunctionGuards>(self).of();
}

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
    const py::object found = attribute_or_none(object, attribute);
    const FunctionGuards* guards = Box<FunctionGuards>::find(found.ptr());
    if (!guards) return py::none();
    const auto& guarded = guards->guarded;
    // functools.wraps copies the attribute to other functions.
    if (!guarded || guarded->is_over() || guarded->function() != function)
        return py::none();
    if (function->func_code == as_object(guarded->code())) return found;
    guarded->restore();
    return py::none();
}

/// What guards the function, with no entries where nothing did.
py::object make_guards(PyFunctionObject* function) {
    py::object present = present_guards(function);
    if (!present.is_none()) return present;
    Shared<GuardedFunction> made = GuardedFunction::take(function);
    if (!made) throw py::error_already_set();
    py::object guards = py::cast(FunctionGuards{std::move(made)});
    py::setattr(as_object(function), attribute, guards);
    return guards;
}

py::object guard_function(py::handle given, py::handle on_miss, py::handle entry_limit,
                          py::handle when_full) {
    PyFunctionObject* function = function_of_python(given);
    Owned<> asked = read_on_miss(on_miss);
    py::object guards = make_guards(function);
    GuardedFunction& guarded = guards_of(guards);
    set_limits(guarded, entry_limit, when_full);
    if (asked) guarded.on_miss.swap(asked);
    return guards;
}

/// For guarded functions on CPython 3.11: the names, with the same rules.
py::tuple names_for_calls(py::handle code, py::handle guards, py::handle captures) {
    const Captures read = read_named_captures(captures, guards);
    require_free_names(code_of_python(code), read);
    return read.names ? py::reinterpret_borrow<py::tuple>(read.names.get())
                      : py::tuple();
}

bool restore(const py::object& self) {
    GuardedFunction& guarded = guards_of(self);
    PyObject* function = as_object(guarded.function());
    const bool is_back = guarded.restore();
    if (function && is_back && attribute_or_none(function, attribute).is(self))
        py::delattr(function, attribute);
    return is_back;
}

/// METH_FASTCALL | METH_KEYWORDS of a function that is guarded: a call past its guards.
PyObject* call_original(PyObject* function, PyObject* const* arguments,
                        Py_ssize_t count, PyObject* names) {
    return GuardedFunction::call_plain(function, arguments, static_cast<size_t>(count),
                                       names);
}

PyMethodDef original_method = {
    "original",
    reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call_original)),
    METH_FASTCALL | METH_KEYWORDS,
    "original($self, /, *args, **kwargs)\n--\n\n"
    "The guarded function itself, past its guards."};

py::object original(const py::object& self) {
    PyObject* function = as_object(guards_of(self).function());
    if (!function) return py::none();
    auto made = py::reinterpret_steal<py::object>(
        PyCFunction_NewEx(&original_method, function, nullptr));
    if (!made) throw py::error_already_set();
    return made;
}

}  // namespace

void bind_functions(py::module_& module) {
    BoxedClass<FunctionGuards> guards(
        module, Made::by_guardtree,
        "The guarded calls of one function: what guard_function gives.");
    bind_entries(guards);
    guards
        .def("restore", calling<&restore>,
             "Forgets all entries and gives the calls back. False where another "
             "library has taken them over since: it goes on calling through, plain.")
        .def_property_readonly("original", calling<&original>,
                               "A callable that runs the function past its guards; "
                               "None when the function is gone.")
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
        py::arg("guards"), py::arg("captures"),
        "The names of captures, for calls of the code's function; ValueError for "
        "those that it could use itself.");
    define_function(
        module, "guard_function", calling<&guard_function>, py::arg("function"),
        py::arg("on_miss") = py::none(), py::arg("entry_limit") = py::none(),
        py::arg("when_full") = py::none(),
        "Guards the calls of one function where they arrive, before there is a frame; "
        "all else in the process runs at full speed, and no hook is needed. Gives its "
        "GuardedFunction, the same one each time. It lives as long as the function. "
        "NotImplementedError on CPython 3.11.");
}

}  // namespace guardtree
