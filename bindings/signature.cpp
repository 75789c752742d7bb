// Binds arguments to the parameters of Python functions, and reads them.
// SPDX-License-Identifier: MIT
#include "signature.h"

#include <algorithm>

#include "bindings.h"
#include "guard_manager.h"

namespace guardtree {
namespace {

size_t name_count(const Given& given) noexcept {
    return given.names ? static_cast<size_t>(PyTuple_GET_SIZE(given.names)) : 0;
}

PyObject* name_at(const Given& given, size_t index) noexcept {
    return PyTuple_GET_ITEM(given.names, static_cast<Py_ssize_t>(index));
}

[[noreturn]] void refuse_call(const std::string& text) {
    throw py::type_error(text);
}

}  // namespace

void refuse_argument(ArgumentName argument, const std::string& expects,
                     py::handle found) {
    Diagnostic problem;
    refuse_operand(problem, expects.c_str(), found.ptr());
    problem.message =
        std::string(argument.function) + "(" + argument.name + "): " + problem.message;
    throw_diagnostic(problem);
}

bool read_truth(py::handle given, ArgumentName argument, const std::string& expects) {
    const PyNumberMethods* number = Py_TYPE(given.ptr())->tp_as_number;
    const bool has_truth = given.is_none() || (number && number->nb_bool);
    if (!has_truth) refuse_argument(argument, expects, given);
    const int truth = PyObject_IsTrue(given.ptr());
    if (truth < 0) throw py::error_already_set();
    return truth == 1;
}

py::ssize_t read_size(py::handle given, ArgumentName argument,
                      const std::string& expects) {
    if (!PyIndex_Check(given.ptr())) refuse_argument(argument, expects, given);
    const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(given.ptr()));
    if (!index) throw py::error_already_set();
    const py::ssize_t size = PyLong_AsSsize_t(index.ptr());
    if (size != -1 || !PyErr_Occurred()) return size;
    PyErr_Clear();
    refuse_argument(argument, expects, index);
}

std::string read_text(py::handle given, ArgumentName argument,
                      const std::string& expects) {
    if (!PyUnicode_Check(given.ptr())) refuse_argument(argument, expects, given);
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(given.ptr(), &size);
    if (!text) throw py::error_already_set();
    return {text, static_cast<size_t>(size)};
}

void Signature::describe(const char* self, bool rest) {
    std::string head = name_ + "(" + self;
    for (size_t i = 0; i < parameters_.size(); ++i) {
        if (i == by_position_) head += ", *";
        head += std::string(", ") + parameters_[i].name;
        if (PyObject* fallback = parameters_[i].fallback)
            head += "=" + py::repr(fallback).cast<std::string>();
        if (i + 1 == by_name_from_) head += ", /";
    }
    if (rest) head += ", /, *args, **kwargs";
    documentation_ = head + ")\n--\n\n" + documentation_;
}

std::string Signature::parameter_names(size_t count) const {
    std::string names;
    for (size_t i = 0; i < count; ++i)
        names += std::string(i ? ", " : "") + parameters_[i].name;
    return names.empty() ? "no arguments" : names;
}

void Signature::bind_names(const Given& given, std::span<py::object> to) const {
    for (size_t k = 0; k < name_count(given); ++k) {
        PyObject* name = name_at(given, k);
        size_t i = by_name_from_;
        while (i < size() &&
               PyUnicode_CompareWithASCIIString(name, parameters_[i].name) != 0)
            ++i;
        if (i >= size()) {
            refuse_call(name_ + "(): unexpected keyword argument " + short_repr(name) +
                        "; it takes " + parameter_names(size()));
        }
        if (to[i])
            refuse_call(name_ + "(): " + parameters_[i].name + " was given twice");
        to[i] = py::reinterpret_borrow<py::object>(given.values[given.count + k]);
    }
}

void Signature::bind(const Given& given, std::span<py::object> to) const {
    const size_t most = std::min(by_position_, size());
    if (given.count > most) {
        refuse_call(name_ + "(): " + std::to_string(given.count) +
                    " arguments were given by position, and it takes " +
                    std::to_string(most) + " (" + parameter_names(most) + ")");
    }
    for (size_t i = 0; i < given.count; ++i)
        to[i] = py::reinterpret_borrow<py::object>(given.values[i]);
    bind_names(given, to);
    for (size_t i = 0; i < size(); ++i) {
        if (to[i]) continue;
        if (!parameters_[i].fallback)
            refuse_call(name_ + "(): the argument " + parameters_[i].name +
                        " is missing");
        to[i] = py::reinterpret_borrow<py::object>(parameters_[i].fallback);
    }
}

py::args rest_of(const Given& given) {
    py::tuple all(given.count);
    for (size_t i = 0; i < given.count; ++i) all[i] = py::handle(given.values[i]);
    return py::reinterpret_borrow<py::args>(all);
}

py::kwargs keywords_of(const Given& given) {
    py::kwargs all;
    for (size_t k = 0; k < name_count(given); ++k) {
        PyObject* value = given.values[given.count + k];
        if (PyDict_SetItem(all.ptr(), name_at(given, k), value) < 0)
            throw py::error_already_set();
    }
    return all;
}

}  // namespace guardtree
