// Constants as Python text that evaluates to them.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstring>

#include "../framelocals/exception.h"

#include "constant.h"

namespace guardtree {
namespace {

/// The repr; in hexadecimal for ints that are too long for a decimal one.
std::string plain_text(PyObject* constant) {
    auto text = Owned<>::steal(PyObject_Repr(constant));
    if (!text) {
        PyErr_Clear();
        text = Owned<>::steal(PyNumber_ToBase(constant, 16));
    }
    return utf8(text.get());
}

std::string nan_text(double number) {
    constexpr uint64_t sign = uint64_t{1} << 63;
    constexpr uint64_t quiet = uint64_t{0x7FF8} << 48;  // float("nan")
    uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    if (bits == quiet) return "nan";
    if (bits == (quiet | sign)) return "-nan";
    return "nan_of_bits(" + std::to_string(bits) + ")";
}

std::string float_text(double number) {
    if (std::isnan(number)) return nan_text(number);
    const auto object = Owned<>::steal(PyFloat_FromDouble(number));
    return object ? plain_text(object.get()) : "?";
}

/// As written in a sum where that gives back each part: `1-0j` does not.
std::string complex_text(PyObject* constant) {
    const Py_complex number = PyComplex_AsCComplex(constant);
    const bool sums_up = std::isfinite(number.real) && std::isfinite(number.imag) &&
                         !(number.imag == 0 && std::signbit(number.imag)) &&
                         (number.real != 0 ||
                          (!std::signbit(number.real) && !std::signbit(number.imag)));
    if (sums_up) return plain_text(constant);
    return "complex(" + float_text(number.real) + ", " + float_text(number.imag) + ")";
}

std::string joined(PyObject* items, const char* open, const char* close) {
    std::string text = open;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); ++i) {
        if (i > 0) text += ", ";
        text += constant_text(PySequence_Fast_GET_ITEM(items, i));
    }
    return text + close;
}

std::string dict_text(PyObject* constant) {
    std::string text = "{";
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    while (PyDict_Next(constant, &position, &key, &value)) {
        if (text.size() > 1) text += ", ";
        text += constant_text(key) + ": " + constant_text(value);
    }
    return text + "}";
}

std::string set_text(PyObject* constant) {
    const bool is_frozen = PyFrozenSet_CheckExact(constant);
    if (PySet_GET_SIZE(constant) == 0) return is_frozen ? "frozenset()" : "set()";
    const auto items = Owned<>::steal(PySequence_List(constant));
    if (!items) {
        PyErr_Clear();
        return "?";
    }
    return is_frozen ? joined(items.get(), "frozenset({", "})")
                     : joined(items.get(), "{", "}");
}

}  // namespace

std::string utf8(PyObject* text) {
    Py_ssize_t size = 0;
    const char* data = text ? PyUnicode_AsUTF8AndSize(text, &size) : nullptr;
    if (data) return {data, static_cast<size_t>(size)};
    PyErr_Clear();
    return "?";
}

std::string constant_text(PyObject* constant) {
    const ExceptionPause pause;
    if (PyFloat_CheckExact(constant)) return float_text(PyFloat_AS_DOUBLE(constant));
    if (PyComplex_CheckExact(constant)) return complex_text(constant);
    if (PyTuple_CheckExact(constant)) {
        return joined(constant, "(", PyTuple_GET_SIZE(constant) == 1 ? ",)" : ")");
    }
    if (PyList_CheckExact(constant)) return joined(constant, "[", "]");
    if (PyDict_CheckExact(constant)) return dict_text(constant);
    if (PySet_CheckExact(constant) || PyFrozenSet_CheckExact(constant)) {
        return set_text(constant);
    }
    return plain_text(constant);
}

}  // namespace guardtree
