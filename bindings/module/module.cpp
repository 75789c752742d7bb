// The extension module guardtree._guardtree: checks its host, then binds.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include <utility>

#include "../../framelocals/probe.h"
#include "../../guards/objects/sys_modules.h"
#include "../bindings.h"

namespace py = pybind11;

namespace {

/// Whether the process has loaded this module into an interpreter that has ended since.
/// The module's data from that interpreter (types, constants, indices in code objects)
/// is no longer valid.
bool is_of_ended_interpreter() {
    static bool is_loaded = false;
    PyObject* interpreter = PyInterpreterState_GetDict(PyInterpreterState_Get());
    const py::str mark("guardtree.loaded");
    if (std::exchange(is_loaded, true))
        return PyDict_Contains(interpreter, mark.ptr()) != 1;
    if (PyDict_SetItem(interpreter, mark.ptr(), Py_None) < 0)
        throw py::error_already_set();
    return false;
}

}  // namespace

PYBIND11_MODULE(_guardtree, module) {
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        throw py::import_error(
            "guardtree works in the main interpreter only: frame evaluators and code "
            "caches are per interpreter. Import it there; code of subinterpreters runs "
            "untouched.");
    }
    if (is_of_ended_interpreter()) {
        throw py::import_error(
            "guardtree was loaded into an interpreter that has ended (Py_FinalizeEx), "
            "and cannot start again in this process. Keep one interpreter for the "
            "life of the process, or start another process.");
    }
    const std::string problem = guardtree::layout_problem();
    if (!problem.empty()) throw py::import_error(problem);
    // Without memory for this name, sys.modules would seem to be missing.
    if (!guardtree::name_of_modules().value) throw std::bad_alloc();
    py::register_local_exception_translator([](std::exception_ptr thrown) {
        try {
            std::rethrow_exception(thrown);
        } catch (...) {
            guardtree::translate_exception();
        }
    });
    module.doc() = "The compiled part of guardtree; import guardtree instead.";
    module.attr("__version__") = GUARDTREE_VERSION;
    guardtree::bind_frame(module);
    guardtree::bind_explain(module);
    guardtree::bind_guard_manager(module);
    guardtree::bind_table(module);
    guardtree::bind_functions(module);
    guardtree::bind_dispatcher(module);
    guardtree::bind_kernel_launch(module);
    guardtree::bind_code(module);
    guardtree::bind_hook(module);
    guardtree::bind_policy(module);
    guardtree::bind_strict(module);
    guardtree::bind_introspection(module);
    guardtree::bind_tensors(module);
    guardtree::bind_c_api(module);
    guardtree::bind_bench(module);
    guardtree::bind_reprs(module);
    guardtree::bind_frame_module_name(module);
}
