// The extension module guardtree._guardtree: checks its host, then binds.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include "../framelocals/probe.h"

#include "bindings.h"

namespace py = pybind11;

PYBIND11_MODULE(_guardtree, module) {
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        throw py::import_error(
            "guardtree works in the main interpreter only: frame evaluators and code "
            "caches are per interpreter. Import it there; code of subinterpreters runs "
            "untouched.");
    }
    const std::string problem = guardtree::layout_problem();
    if (!problem.empty()) throw py::import_error(problem);
    module.doc() = "The compiled part of guardtree; import guardtree instead.";
    module.attr("__version__") = GUARDTREE_VERSION;
    guardtree::bind_frame(module);
    guardtree::bind_explain(module);
    guardtree::bind_guard_manager(module);
    guardtree::bind_table(module);
    guardtree::bind_functions(module);
    guardtree::bind_code(module);
    guardtree::bind_hook(module);
    guardtree::bind_policy(module);
    guardtree::bind_strict(module);
    guardtree::bind_introspection(module);
    guardtree::bind_tensors(module);
    guardtree::bind_c_api(module);
    guardtree::bind_bench(module);
    guardtree::bind_frame_module_name(module);
}
