// Guard trees as JSON, for Python: to_json(), from_json(), digest(), pickling.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include "../../dsl/json/reader.h"
#include "../../dsl/json/writer.h"
#include "../../dsl/names/names.h"
#include "../bindings.h"
#include "../guard_manager.h"

namespace guardtree {
namespace {

std::string json_of(const py::object& self, const JsonOptions& options,
                    std::vector<std::string>& dropped) {
    std::string text;
    Diagnostic problem;
    if (!to_json(GuardManager::of(self).tree().tree, options, text, dropped, problem)) {
        throw_diagnostic(problem);
    }
    return text;
}

std::string json_of(const py::object& self, const JsonOptions& options = {}) {
    std::vector<std::string> dropped;
    return json_of(self, options, dropped);
}

py::tuple portable_json_of(const py::object& self) {
    std::vector<std::string> dropped;
    const std::string text = json_of(self, {.drop_unportable = true}, dropped);
    return py::make_tuple(text, dropped);
}

std::string digest_of(const py::object& self) {
    const std::string text = json_of(self, {.with_notes = false});
    const py::object sha256 = py::module_::import("hashlib").attr("sha256");
    return sha256(py::bytes(text)).attr("hexdigest")().cast<std::string>();
}

/// The scope in a form that pickle can write: the name of a function.
py::object named_scope(const GuardTree& guards) {
    PyObject* function = as_object(guards.function());
    if (!function) {
        throw py::type_error(
            "cannot pickle guards that were made for code alone, or whose function is "
            "gone; use to_json() and from_json(text, scope)");
    }
    ObjectName name;
    if (!name_object(function, name)) {
        throw py::type_error("cannot pickle guards for " + short_repr(function) +
                             ": no name in a module leads to it; use to_json() and "
                             "from_json(text, scope)");
    }
    return py::reinterpret_borrow<py::object>(function);
}

/// Refuses a tree that from_json would refuse, so that pickling fails and not loading.
void demand_no_calls(const Tree& tree) {
    for (NodeId id = 1; id < tree.node_count(); ++id) {
        if (!calls_what_it_finds(tree.node(id).step.code())) continue;
        throw py::type_error(
            "cannot pickle guards with a step that calls what it finds (" +
            tree.path_text(id) +
            "); use to_json() and from_json(text, scope, allow_calls=True)");
    }
}

py::tuple reduced(const py::object& self) {
    const GuardManager& handle = GuardManager::of(self);
    const GuardTree& guards = handle.tree();
    if (!handle.is_root()) {
        throw py::type_error(
            "cannot pickle or copy a handle on one value; take the guards' root, or "
            "clone()");
    }
    const py::module_ module = py::module_::import("guardtree._guardtree");
    if (!py::type::handle_of(self).is(module.attr("GuardManager"))) {
        throw py::type_error(
            "a subclass of GuardManager says itself how it is pickled: __reduce__");
    }
    const py::object scope = named_scope(guards);
    demand_no_calls(guards.tree);
    std::string text;
    try {
        text = json_of(self);
    } catch (py::error_already_set& error) {
        if (!error.matches(PyExc_ValueError)) throw;
        throw py::type_error(
            "cannot pickle guards that have no form in JSON (clone() copies them): " +
            py::str(error.value()).cast<std::string>());
    }
    return py::make_tuple(module.attr("from_json"), py::make_tuple(text, scope));
}

py::object loaded(const py::str& text, py::handle scope, py::handle resolver,
                  bool allow_calls) {
    if (!resolver.is_none() && !PyCallable_Check(resolver.ptr())) {
        Diagnostic problem;
        refuse_operand(problem, "a callable of (module, path), or None",
                       resolver.ptr());
        problem.message = "from_json(resolver): " + problem.message;
        throw_diagnostic(problem);
    }
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (!data) throw py::error_already_set();
    auto guards = std::make_unique<GuardTree>(scope);
    // Held while a resolver runs, because it may release the scope.
    const auto code = Owned<PyCodeObject>::share(guards->code());
    const JsonReading reading{.allow_calls = allow_calls,
                              .resolver = resolver.is_none() ? nullptr : resolver.ptr(),
                              .code = code.get()};
    Diagnostic problem;
    if (!from_json({data, static_cast<size_t>(size)}, reading, guards->tree, problem)) {
        if (!problem) throw py::error_already_set();
        throw_diagnostic(problem);
    }
    return GuardManager::to_python(GuardManager(std::move(guards)));
}

}  // namespace

void bind_json(py::module_& module, py::handle manager) {
    define_function(
        module, "from_json", calling<&loaded>, py::arg("text"), py::arg("scope"),
        py::kw_only(), py::arg("resolver") = py::none(), py::arg("allow_calls") = false,
        "Guards for `scope` (as for GuardManager) of what to_json() wrote, perhaps in "
        "another process. Types and functions are looked up by their names in modules "
        "that are imported; nothing is imported or called. `resolver(module, path)` is "
        "asked first, if it is given: it returns the object, or None where it knows "
        "none. ValueError says where and why a text is refused: it is safe to read "
        "any. A text whose steps call what they find is refused unless allow_calls: "
        "its guards could run any function. NameError for a variable that the scope "
        "has not.");
    define(
        manager, "to_json", [](const py::object& self) { return json_of(self); },
        "The whole tree as JSON text, for from_json: the canonical form, so equal "
        "trees give equal texts. Types and functions are written by name. Notes that "
        "are str are written, others are not. ValueError names the first guard that "
        "means something in this process only: code, state, objects without a name.");
    define(manager, "to_portable_json", calling<&portable_json_of>,
           "`(text, dropped)`: to_json() without the guards that it refuses, and their "
           "Python text. What is left passes wherever these guards do.");
    define(
        manager, "digest", calling<&digest_of>,
        "SHA-256, in hexadecimal, of the JSON text without notes: the same for equal "
        "trees in every process. ValueError as for to_json.");
    define(manager, "__reduce__", calling<&reduced>,
           "For pickle and copy: from_json, the JSON text and the function that the "
           "guards were made for. TypeError where one of them cannot be written.");
}

}  // namespace guardtree
