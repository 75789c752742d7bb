// Python's Explanation and Failure.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "../guards/explain.h"

#include "bindings.h"

namespace guardtree {

void bind_explain(py::module_& module) {
    py::class_<Failure>(module, "Failure", "One guard that did not pass.")
        .def_readonly("path", &Failure::path,
                      "Where: the value as a Python expression.")
        .def_readonly("kind", &Failure::kind,
                      "Which kind, or the step that found nothing.")
        .def_readonly("python", &Failure::python, "The guard as Python.")
        .def_readonly("expected", &Failure::expected,
                      "The guard as the call that made it.")
        .def_readonly("found", &Failure::found, "The value that was found.")
        .def_readonly("error", &Failure::error,
                      "What it raised; empty for a plain failure.")
        .def_property_readonly(
            "note",
            [](const Failure& self) {
                PyObject* note = self.note ? self.note.get() : Py_None;
                return py::reinterpret_borrow<py::object>(note);
            },
            "What note() said of the guard, or None.")
        .def("__str__", &Failure::text)
        .def("__repr__",
             [](const Failure& self) { return "<Failure " + self.text() + ">"; });
    py::class_<Explanation>(module, "Explanation",
                            "What explain found; true when all guards pass.")
        .def_readonly("failures", &Explanation::failures,
                      "Every guard that did not pass, in program order.")
        .def_property_readonly(
            "verdict",
            [](const Explanation& self) {
                constexpr const char* names[] = {"fail", "pass", "error"};
                return names[static_cast<int>(self.verdict)];
            },
            "'pass', 'fail' or 'error' (some guard raised).")
        .def_readonly("checks_run", &Explanation::checks_run,
                      "How many steps, kinds and relations were evaluated.")
        .def("__bool__",
             [](const Explanation& self) { return self.verdict == Verdict::pass; })
        .def("__str__", &Explanation::text)
        .def("__repr__", [](const Explanation& self) {
            return "<Explanation: " + self.text() + ">";
        });
}

}  // namespace guardtree
