// Code shared by the bindings.
// SPDX-License-Identifier: MIT
#include "bindings.h"

#include <cstring>

#include <cxxabi.h>

#include "../guards/text/object_text.h"

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
    // If an object could not be created, pybind11 throws its own exceptions ("Could not
    // allocate dict object!") and leaves CPython's exception pending.
    const bool is_told = PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_MemoryError);
    try {
        throw;
    } catch (abi::__forced_unwind&) {
        throw;  // CPython ends this thread
    } catch (py::error_already_set& error) {
        error.restore();
    } catch (const py::builtin_exception& error) {
        if (!is_told) error.set_error();
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& error) {
        if (is_told) return;
        // While normalising an exception, pybind11 ran out of memory.
        if (std::strstr(error.what(), "REPLACED BY MemoryError")) {
            PyErr_NoMemory();
            return;
        }
        PyErr_SetString(PyExc_RuntimeError, error.what());
    } catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
    }
}

py::object attribute_or_none(py::handle object, const char* name) {
    Owned<> found = attribute_of(object.ptr(), name);
    if (found) return py::reinterpret_steal<py::object>(found.release());
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw py::error_already_set();
    PyErr_Clear();
    return py::none();
}

}  // namespace guardtree
