// Snapshots of constants and their exact equality.
// SPDX-License-Identifier: MIT
#include "constant.h"

#include <cmath>
#include <cstring>

#include "../framelocals/set_entries.h"

#include "dict_lookup.h"

namespace guardtree {
namespace {

constexpr int deepest = 100;

bool is_leaf(PyObject* object) noexcept {
    return object == Py_None || object == Py_Ellipsis || PyBool_Check(object) ||
           PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
           PyComplex_CheckExact(object) || PyUnicode_CheckExact(object) ||
           PyBytes_CheckExact(object);
}

/// Keys that are equal only to keys of their own type, so that a look-up decides. It
/// compares nothing through CPython, which warns where a str meets bytes (-b).
bool is_plain_key(PyObject* key) noexcept {
    return PyUnicode_CheckExact(key) || PyBytes_CheckExact(key) || key == Py_None;
}

bool same_bits(double a, double b) noexcept {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

bool refuse(Diagnostic& problem, PyObject* object) {
    refuse_operand(problem, Constant::expects, object);
    problem.message += "; for other objects use id_match(object) or python(predicate)";
    return false;
}

Owned<> copy(PyObject* object, int depth, Diagnostic& problem);

bool copy_key(PyObject* key, int depth, Diagnostic& problem, Owned<>& to) {
    if (contains_nan(key)) {
        problem = {
            PyExc_ValueError,
            "expected keys and elements that equal themselves, found a NaN among "
            "those of a dict or set; use python(predicate)"};
        return false;
    }
    to = copy(key, depth, problem);
    return static_cast<bool>(to);
}

Owned<> copy_sequence(PyObject* object, int depth, Diagnostic& problem) {
    const bool is_list = PyList_CheckExact(object);
    const Py_ssize_t size = Py_SIZE(object);
    auto made = Owned<>::steal(is_list ? PyList_New(size) : PyTuple_New(size));
    for (Py_ssize_t i = 0; made && i < size; ++i) {
        Owned<> item =
            copy(is_list ? PyList_GET_ITEM(object, i) : PyTuple_GET_ITEM(object, i),
                 depth, problem);
        if (!item) return {};
        if (is_list) {
            PyList_SET_ITEM(made.get(), i, item.release());
        } else {
            PyTuple_SET_ITEM(made.get(), i, item.release());
        }
    }
    return made;
}

Owned<> copy_dict(PyObject* object, int depth, Diagnostic& problem) {
    auto made = Owned<>::steal(PyDict_New());
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    while (made && PyDict_Next(object, &position, &key, &value)) {
        Owned<> key_copy;
        if (!copy_key(key, depth, problem, key_copy)) return {};
        Owned<> value_copy = copy(value, depth, problem);
        if (!value_copy) return {};
        if (PyDict_SetItem(made.get(), key_copy.get(), value_copy.get()) < 0) return {};
    }
    return made;
}

Owned<> copy_set(PyObject* object, int depth, Diagnostic& problem) {
    auto items = Owned<>::steal(PySequence_List(object));
    auto made = Owned<>::steal(PyList_New(0));
    if (!items || !made) return {};
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
        Owned<> item;
        if (!copy_key(PyList_GET_ITEM(items.get(), i), depth, problem, item)) return {};
        if (PyList_Append(made.get(), item.get()) < 0) return {};
    }
    return Owned<>::steal(PyFrozenSet_CheckExact(object) ? PyFrozenSet_New(made.get())
                                                         : PySet_New(made.get()));
}

Owned<> copy(PyObject* object, int depth, Diagnostic& problem) {
    if (is_leaf(object)) return Owned<>::share(object);
    if (depth >= deepest) {
        problem = {
            PyExc_ValueError,
            "expected a constant nested at most 100 deep, found a deeper one or one "
            "that holds itself"};
        return {};
    }
    if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) {
        return copy_sequence(object, depth + 1, problem);
    }
    if (PyDict_CheckExact(object)) return copy_dict(object, depth + 1, problem);
    if (PySet_CheckExact(object) || PyFrozenSet_CheckExact(object)) {
        return copy_set(object, depth + 1, problem);
    }
    refuse(problem, object);
    return {};
}

bool same_items(PyObject* const* a, PyObject* const* b, Py_ssize_t count) noexcept {
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (!same_constant(a[i], b[i])) return false;
    }
    return true;
}

/// `key` comes from user data: only when it is a constant itself may it be looked up or
/// compared without running user code.
bool find_constant_key(PyObject* dict, PyObject* key, PyObject** found) noexcept {
    if (is_plain_key(key)) {
        *found = find_in_dict(dict, {key, PyObject_Hash(key)}).get();
        return *found != nullptr;
    }
    Py_ssize_t position = 0;
    PyObject* candidate = nullptr;
    while (PyDict_Next(dict, &position, &candidate, found)) {
        if (same_constant(key, candidate)) return true;
    }
    return false;
}

bool same_dict(PyObject* value, PyObject* constant) noexcept {
    if (PyDict_GET_SIZE(value) != PyDict_GET_SIZE(constant)) return false;
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    while (PyDict_Next(value, &position, &key, &item)) {
        PyObject* expected = nullptr;
        if (!find_constant_key(constant, key, &expected)) return false;
        if (!same_constant(item, expected)) return false;
    }
    return true;
}

bool find_in_set(PyObject* set, PyObject* key) noexcept {
    if (is_plain_key(key)) {
        SetProbe probe(set, PyObject_Hash(key));
        PyObject* member = probe.next();
        while (member && !same_constant(key, member)) member = probe.next();
        return member != nullptr;
    }
    Py_ssize_t position = 0;
    PyObject* candidate = nullptr;
    while (next_set_entry(set, &position, &candidate)) {
        if (same_constant(key, candidate)) return true;
    }
    return false;
}

bool same_set(PyObject* value, PyObject* constant) noexcept {
    if (PySet_GET_SIZE(value) != PySet_GET_SIZE(constant)) return false;
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    while (next_set_entry(value, &position, &key)) {
        if (!find_in_set(constant, key)) return false;
    }
    return true;
}

bool same_complex(PyObject* a, PyObject* b) noexcept {
    const Py_complex x = PyComplex_AsCComplex(a);
    const Py_complex y = PyComplex_AsCComplex(b);
    return same_bits(x.real, y.real) && same_bits(x.imag, y.imag);
}

}  // namespace

bool contains_nan(PyObject* key) noexcept {
    if (PyFloat_CheckExact(key)) return std::isnan(PyFloat_AS_DOUBLE(key));
    if (PyComplex_CheckExact(key)) {
        const Py_complex number = PyComplex_AsCComplex(key);
        return std::isnan(number.real) || std::isnan(number.imag);
    }
    if (!PyTuple_CheckExact(key)) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i) {
        if (contains_nan(PyTuple_GET_ITEM(key, i))) return true;
    }
    return false;
}

Owned<> snapshot_constant(PyObject* object, Diagnostic& problem) {
    Owned<> made = copy(object, 0, problem);
    if (!made && !problem) {  // CPython itself had no memory
        PyErr_Clear();
        problem = {PyExc_MemoryError, "no memory for a copy of a constant"};
    }
    return made;
}

bool same_constant(PyObject* value, PyObject* constant) noexcept {
    if (value == constant) return true;
    PyTypeObject* type = Py_TYPE(constant);
    if (Py_TYPE(value) != type) return false;
    if (type == &PyLong_Type)
        return PyObject_RichCompareBool(value, constant, Py_EQ) == 1;
    if (type == &PyUnicode_Type) {
        return PyUnicode_GET_LENGTH(value) == PyUnicode_GET_LENGTH(constant) &&
               PyUnicode_Compare(value, constant) == 0;
    }
    if (type == &PyFloat_Type) {
        return same_bits(PyFloat_AS_DOUBLE(value), PyFloat_AS_DOUBLE(constant));
    }
    if (type == &PyTuple_Type || type == &PyList_Type) {
        if (Py_SIZE(value) != Py_SIZE(constant)) return false;
        return same_items(PySequence_Fast_ITEMS(value), PySequence_Fast_ITEMS(constant),
                          Py_SIZE(constant));
    }
    if (type == &PyBytes_Type) {
        return Py_SIZE(value) == Py_SIZE(constant) &&
               std::memcmp(PyBytes_AS_STRING(value), PyBytes_AS_STRING(constant),
                           static_cast<size_t>(Py_SIZE(value))) == 0;
    }
    if (type == &PyDict_Type) return same_dict(value, constant);
    if (type == &PySet_Type || type == &PyFrozenSet_Type)
        return same_set(value, constant);
    if (type == &PyComplex_Type) return same_complex(value, constant);
    return false;
}

bool has_keys_in_order(PyObject* dict, PyObject* constants) noexcept {
    if (!PyDict_Check(dict)) return false;
    const Py_ssize_t count = PyTuple_GET_SIZE(constants);
    if (PyDict_GET_SIZE(dict) != count) return false;
    Py_ssize_t position = 0;
    Py_ssize_t i = 0;
    PyObject* key = nullptr;
    while (i < count && PyDict_Next(dict, &position, &key, nullptr)) {
        if (!same_constant(key, PyTuple_GET_ITEM(constants, i++))) return false;
    }
    return i == count;
}

bool has_keys(PyObject* dict, PyObject* constants) noexcept {
    if (!PyDict_Check(dict) || PyDict_GET_SIZE(dict) != PySet_GET_SIZE(constants)) {
        return false;
    }
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    while (PyDict_Next(dict, &position, &key, nullptr)) {
        if (!find_in_set(constants, key)) return false;
    }
    return true;
}

bool has_members(PyObject* value, PyObject* constants) noexcept {
    return (PySet_CheckExact(value) || PyFrozenSet_CheckExact(value)) &&
           same_set(value, constants);
}

}  // namespace guardtree
