// Reads the arguments of Python functions, each by its C++ type.
// SPDX-License-Identifier: MIT
//
// These do not use pybind11's converters. There, exceptions of user code (`__bool__`,
// `__index__`) are lost, and a TypeError shows all arguments, which runs their reprs.
#pragma once
#include <optional>
#include <string>

#include <pybind11/pybind11.h>

namespace guardtree {

namespace py = pybind11;

/// The name of an argument in messages: `function(name)`.
struct ArgumentName {
    const char* function;
    const char* name;
};

/// Throws a TypeError that says what was expected and what was found.
[[noreturn]] void refuse_argument(ArgumentName argument, const std::string& expects,
                                  py::handle found);

bool read_truth(py::handle given, ArgumentName argument, const std::string& expects);
py::ssize_t read_size(py::handle given, ArgumentName argument,
                      const std::string& expects);
std::string read_text(py::handle given, ArgumentName argument,
                      const std::string& expects);

/// For each parameter type T: its name in messages, and `read(object, name, expects)`,
/// which throws exceptions of user code, and TypeError.
template <class T>
struct Argument;

template <>
struct Argument<py::handle> {
    static constexpr const char* expects = "an object";

    static py::handle read(py::handle given, ArgumentName, const std::string&) {
        return given;
    }
};

template <>
struct Argument<py::object> {
    static constexpr const char* expects = "an object";

    static py::object read(py::handle given, ArgumentName, const std::string&) {
        return py::reinterpret_borrow<py::object>(given);
    }
};

template <>
struct Argument<bool> {
    static constexpr const char* expects = "True or False";

    static bool read(py::handle given, ArgumentName name, const std::string& expected) {
        return read_truth(given, name, expected);
    }
};

template <>
struct Argument<py::ssize_t> {
    static constexpr const char* expects = "an int of 64 bits";

    static py::ssize_t read(py::handle given, ArgumentName name,
                            const std::string& expected) {
        return read_size(given, name, expected);
    }
};

template <>
struct Argument<std::string> {
    static constexpr const char* expects = "a str";

    static std::string read(py::handle given, ArgumentName name,
                            const std::string& expected) {
        return read_text(given, name, expected);
    }
};

template <>
struct Argument<py::str> {
    static constexpr const char* expects = "a str";

    static py::str read(py::handle given, ArgumentName name,
                        const std::string& expected) {
        if (!PyUnicode_Check(given.ptr())) refuse_argument(name, expected, given);
        return py::reinterpret_borrow<py::str>(given);
    }
};

template <>
struct Argument<py::type> {
    static constexpr const char* expects = "a type";

    static py::type read(py::handle given, ArgumentName name,
                         const std::string& expected) {
        if (!PyType_Check(given.ptr())) refuse_argument(name, expected, given);
        return py::reinterpret_borrow<py::type>(given);
    }
};

/// A T or None.
template <class T>
struct Argument<std::optional<T>> {
    static constexpr const char* expects = Argument<T>::expects;

    static std::optional<T> read(py::handle given, ArgumentName name,
                                 const std::string& expected) {
        if (given.is_none()) return std::nullopt;
        return Argument<T>::read(given, name, expected + " or None");
    }
};

}  // namespace guardtree
