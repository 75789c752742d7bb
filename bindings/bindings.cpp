// Shared pieces of the bindings.
// SPDX-License-Identifier: MIT
#include "bindings.h"

#include <cxxabi.h>

namespace guardtree {

std::string python_name(std::string_view name) {
    std::string text(name);
    if (text == "global") text += "_";
    return text;
}

std::string documentation(std::string_view, const Info& info,
                          const std::string& operands) {
    std::string text = python_name(info.name) + "(" + operands + ")\n\n";
    text +=
        std::string(info.summary) + " In Python: `" + std::string(info.python) + "`.";
    if (info.calls_python) text += " User code may run.";
    return text;
}

void translate_exception() {
    try {
        throw;
    } catch (abi::__forced_unwind&) {
        throw;  // CPython ends this thread
    } catch (py::error_already_set& error) {
        error.restore();
    } catch (const py::builtin_exception& error) {
        error.set_error();
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    } catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
    }
}

void forbid_making(py::handle type) {
    const auto name = py::cast<std::string>(type.attr("__name__"));
    type.attr("__new__") =
        py::cpp_function([name](const py::args&, const py::kwargs&) -> py::object {
            throw py::type_error(name + " objects are made by guardtree alone");
        });
}

}  // namespace guardtree
