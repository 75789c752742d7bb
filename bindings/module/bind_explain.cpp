// The Python types Explanation and Failure.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include "../bindings.h"
#include "../explanations.h"
#include "../guard_manager.h"

namespace guardtree {
namespace {

const char* verdict_name(const Explanation& explanation) {
    constexpr const char* names[] = {"fail", "pass", "error"};
    return names[static_cast<int>(explanation.verdict)];
}

py::object note_of(const Failure& failure) {
    return object_or_none(failure.note.get());
}

/// The root that fetches the local of this name, or no_id.
NodeId root_of_local(const Tree& tree, PyObject* name) {
    NodeId found = no_id;
    tree.each_child(0, [&](NodeId id) {
        const Op& step = tree.node(id).step;
        if (step.code() != OpCode::Local) return;
        if (PyUnicode_Compare(step.as<Local>().name.value, name) == 0) found = id;
    });
    return found;
}

py::list nodes_of(const Failure& failure) {
    py::list nodes;
    if (!failure.guards) return nodes;
    const Tree& tree = GuardManager::of(failure.guards.get()).tree().tree;
    for (const ValueNode& each : failure.nodes) {
        const NodeId id =
            each.local ? root_of_local(tree, each.local.get()) : each.node;
        if (id < tree.node_count())
            nodes.append(GuardManager::handle_on(failure.guards.get(), id));
    }
    return nodes;
}

py::list differences_of(const Failure& failure) {
    py::list all;
    if (failure.differences.empty()) return all;
    const py::object make =
        py::module_::import("guardtree.descriptions").attr("FactDifference");
    for (const FactDifference& each : failure.differences) {
        py::object index = py::none();
        if (each.index >= 0) index = py::int_(each.index);
        all.append(make(each.fact, index, each.expected, each.found));
    }
    return all;
}

/// The same as dicts, which JSON can hold.
py::list data_of_differences(const Failure& failure) {
    py::list all;
    for (const py::handle each : differences_of(failure))
        all.append(py::dict(each.attr("__dict__")));
    return all;
}

py::dict failure_data(const Failure& failure) {
    py::dict data;
    data["path"] = failure.path;
    data["kind"] = failure.kind;
    data["python"] = failure.python;
    data["expected"] = failure.expected;
    data["found"] = failure.found;
    data["error"] = failure.error;
    data["differences"] = data_of_differences(failure);
    data["note"] = note_of(failure);
    return data;
}

py::dict explanation_data(const Explanation& explanation) {
    py::list failures;
    for (const Failure& each : explanation.failures) {
        failures.append(failure_data(each));
    }
    py::dict data;
    data["verdict"] = verdict_name(explanation);
    data["checks_run"] = explanation.checks_run;
    data["failures"] = failures;
    data["invalidated"] = explanation.invalidated;
    return data;
}

py::object json_text(const py::dict& data) {
    return py::module_::import("guardtree.explanations").attr("json_text")(data);
}

}  // namespace

void bind_explain(py::module_& module) {
    BoxedClass<Failure>(module, Made::by_guardtree, "One guard that did not pass.")
        .def_property_readonly("path", calling<&Failure::path>,
                               "Where: the value as a Python expression.")
        .def_property_readonly("kind", calling<&Failure::kind>,
                               "Which kind, or the step that found nothing.")
        .def_property_readonly("python", calling<&Failure::python>,
                               "The guard as Python.")
        .def_property_readonly("expected", calling<&Failure::expected>,
                               "The guard as the call that made it.")
        .def_property_readonly("found", calling<&Failure::found>,
                               "The value that was found.")
        .def_property_readonly("error", calling<&Failure::error>,
                               "What it raised; empty for a plain failure.")
        .def_property_readonly(
            "differences", calling<&differences_of>,
            "A FactDifference for each fact that differs, of a kind that checks "
            "several: tensor_match. Otherwise empty.")
        .def_property_readonly(
            "nodes", calling<&nodes_of>,
            "The nodes of the guarded values: one, or those of a relation. Empty "
            "where the guards were no GuardManager.")
        .def_property_readonly("note", calling<&note_of>,
                               "What note() said of the guard, or None.")
        .def("to_dict", calling<&failure_data>,
             "All of it but the nodes, as a dict by these names.")
        .def("__str__", calling<&Failure::text>)
        .def("__repr__",
             [](const Failure& self) { return "<Failure " + self.text() + ">"; });
    BoxedClass<Explanation>(module, Made::by_guardtree,
                            "What explain found; true when all guards pass.")
        .def_property_readonly("failures", calling<&Explanation::failures>,
                               "Every guard that did not pass, in program order.")
        .def_property_readonly("verdict", calling<&verdict_name>,
                               "'pass', 'fail' or 'error' (some guard raised).")
        .def_property_readonly("checks_run", calling<&Explanation::checks_run>,
                               "How many steps, kinds and relations were evaluated.")
        .def_property_readonly(
            "invalidated", calling<&Explanation::invalidated>,
            "Why what was assumed is checked again, as texts: \"invalidated by a "
            "change of G['cfg']\".")
        .def("to_dict", calling<&explanation_data>,
             "verdict, checks_run, failures (each as its to_dict()) and invalidated as "
             "a dict; notes are the objects themselves.")
        .def(
            "to_json",
            [](const Explanation& self) { return json_text(explanation_data(self)); },
            "to_dict() as JSON text. Never fails: a note that is no JSON goes as its "
            "repr.")
        .def("__bool__",
             [](const Explanation& self) { return self.verdict == Verdict::pass; })
        .def("__str__", calling<&Explanation::text>)
        .def("__repr__", [](const Explanation& self) {
            return "<Explanation: " + self.text() + ">";
        });
}

}  // namespace guardtree
