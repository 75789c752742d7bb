// Code shared by the bind_*() files: names, docstrings, garbage collection, exceptions.
// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>  // in every file or none: each fills in the same templates

#include "../guards/concepts/kind.h"

namespace guardtree {

namespace py = pybind11;

/// A kind's name as a Python identifier. `global` is a keyword, so it becomes
/// `global_`.
std::string python_name(std::string_view name);

/// A docstring: "name(operands)", the summary, and the meaning in Python.
std::string documentation(std::string_view owner, const Info& info,
                          const std::string& operands);

template <class T>
std::string operand_names() {
    std::string names;
    std::apply(
        [&](const auto&... each) {
            ((names += (names.empty() ? "" : ", ") + std::string(each.name)), ...);
        },
        T::operands());
    return names;
}

template <class T>
std::string documentation(std::string_view owner) {
    return documentation(owner, T::info, operand_names<T>());
}

/// The same, with the signature in the form that `inspect.signature` reads, for methods
/// that are added to a type by hand.
template <class T>
std::string signature_documentation() {
    const std::string operands = operand_names<T>();
    const std::string text = documentation("", T::info, operands);
    return python_name(T::info.name) + "($self" + (operands.empty() ? "" : ", ") +
           operands + ")\n--\n\n" + text.substr(text.find("\n\n") + 2);
}

/// Converts the current C++ exception to a pending Python exception. Rethrows the end
/// of a thread, which is an exception for the C++ runtime.
void translate_exception();

/// A borrowed object as a Python object, with None for null.
inline py::object object_or_none(PyObject* object) {
    return py::reinterpret_borrow<py::object>(object ? object : Py_None);
}

/// An attribute, or None if there is none. Other exceptions than AttributeError are
/// thrown, which py::getattr with a default drops.
py::object attribute_or_none(py::handle object, const char* name);

void bind_guard_manager(py::module_& module);
void bind_strict(py::module_& module);
void bind_table(py::module_& module);
void bind_c_api(py::module_& module);
void bind_functions(py::module_& module);
void bind_dispatcher(py::module_& module);
void bind_kernel_launch(py::module_& module);
void bind_policy(py::module_& module);

/// The code of a function or method, or a code object itself. Borrowed. Throws
/// TypeError.
PyCodeObject* code_of_python(py::handle object);

void bind_explain(py::module_& module);
void bind_frame(py::module_& module);
/// Defines `frame.__module__`, so that inspect.getmodule(frame) works. Called after all
/// other bindings.
void bind_frame_module_name(py::module_& module);
void bind_hook(py::module_& module);
void bind_code(py::module_& module);
void bind_introspection(py::module_& module);
void bind_tensors(py::module_& module);
void bind_bench(py::module_& module);
void bind_reprs(py::module_& module);  // after all types are bound

}  // namespace guardtree
