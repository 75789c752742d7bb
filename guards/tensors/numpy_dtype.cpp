// Compares NumPy's element types where that runs no code of the user's.
// SPDX-License-Identifier: MIT
#include "numpy_dtype.h"

#include <cstring>

#include "../../framelocals/ref.h"
#include "../objects/constant.h"
#include "../text/object_text.h"

#include "reader.h"

namespace guardtree {
namespace {

// Numbers of element types (NPY_TYPES, numpy/ndarraytypes.h).
constexpr int of_record = 20;
constexpr int own_count = 24;
constexpr int first_registered = 256;  ///< of packages, compared as NumPy's own
constexpr int of_string = 2056;

constexpr int max_depth = 64;

/// An attribute of a dtype, or null without an exception. They are NumPy's own.
Owned<> member(PyObject* dtype, const char* name) noexcept {
    auto found = Owned<>::steal(PyObject_GetAttrString(dtype, name));
    if (!found) PyErr_Clear();
    return found;
}

int number_of(PyObject* dtype) noexcept {
    return reinterpret_cast<const NumpyDtype*>(dtype)->number;
}

bool is_quiet(PyObject* dtype, int depth) noexcept;

/// By what stands for a missing string: None, a float, a str, or nothing.
bool is_quiet_string(PyObject* dtype) noexcept {
    const auto missing = Owned<>::steal(PyObject_GetAttrString(dtype, "na_object"));
    if (!missing) {
        const bool is_nothing = PyErr_ExceptionMatches(PyExc_AttributeError);
        PyErr_Clear();
        return is_nothing;
    }
    return missing.get() == Py_None || PyFloat_CheckExact(missing.get()) ||
           PyUnicode_CheckExact(missing.get());
}

/// (dtype, offset) or (dtype, offset, title)
bool is_quiet_field(PyObject* field, int depth) noexcept {
    if (!PyTuple_CheckExact(field)) return false;
    const Py_ssize_t size = PyTuple_GET_SIZE(field);
    if (size > 2 && !PyUnicode_CheckExact(PyTuple_GET_ITEM(field, 2))) return false;
    return is_quiet(PyTuple_GET_ITEM(field, 0), depth);
}

/// The fields by name and by title. They are listed, not looked up: that may compare.
bool are_quiet_fields(PyObject* fields, int depth) noexcept {
    const auto names = Owned<>::steal(PyMapping_Keys(fields));
    const auto parts = Owned<>::steal(names ? PyMapping_Values(fields) : nullptr);
    if (!parts) {
        PyErr_Clear();
        return false;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(names.get()); ++i)
        if (!PyUnicode_CheckExact(PyList_GET_ITEM(names.get(), i))) return false;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(parts.get()); ++i)
        if (!is_quiet_field(PyList_GET_ITEM(parts.get(), i), depth)) return false;
    return true;
}

bool is_quiet(PyObject* dtype, int depth) noexcept {
    if (depth == 0 || !is_numpy_dtype(dtype)) return false;
    const int number = number_of(dtype);
    if (number == of_string) return is_quiet_string(dtype);
    if (number != of_record) {
        return (number >= 0 && number < own_count) ||
               (number >= first_registered && number < of_string);
    }
    const Owned<> of_array = member(dtype, "subdtype");
    if (!of_array) return false;
    if (PyTuple_CheckExact(of_array.get()))
        return is_quiet(PyTuple_GET_ITEM(of_array.get(), 0), depth - 1);
    const Owned<> fields = member(dtype, "fields");
    if (!fields) return false;
    return fields.get() == Py_None || are_quiet_fields(fields.get(), depth - 1);
}

}  // namespace

bool is_numpy_dtype(PyObject* value) noexcept {
    PyObject* const bases = Py_TYPE(value)->tp_mro;
    for (Py_ssize_t i = 0; bases && i < PyTuple_GET_SIZE(bases); ++i) {
        auto* base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(bases, i));
        if (std::strcmp(base->tp_name, "numpy.dtype") == 0) return true;
    }
    return false;
}

bool compares_quietly(PyObject* dtype) noexcept {
    const NoCollection pause;
    return is_quiet(dtype, max_depth);
}

bool same_numpy_dtype(PyObject* found, PyObject* quiet) noexcept {
    if (found == quiet) return true;
    if (!found || Py_TYPE(found) != Py_TYPE(quiet)) return false;
    const NoCollection pause;
    if (!is_quiet(found, max_depth)) return false;
    const int equal = PyObject_RichCompareBool(found, quiet, Py_EQ);
    if (equal < 0) PyErr_Clear();
    return equal > 0;
}

std::string numpy_dtype_text(PyObject* dtype) {
    if (number_of(dtype) != of_string) {
        const auto repr = Owned<>::steal(PyObject_Repr(dtype));
        if (!repr) PyErr_Clear();
        return repr ? "numpy." + utf8(repr.get()) : short_repr(dtype);
    }
    std::string text;
    if (const Owned<> missing = member(dtype, "na_object"))
        text = "na_object=" + constant_text(missing.get());
    if (member(dtype, "coerce").get() == Py_False)
        text += text.empty() ? "coerce=False" : ", coerce=False";
    return "numpy.dtypes.StringDType(" + text + ")";
}

}  // namespace guardtree
