// NumPy's element types that no word describes: records, byte orders, strings, dates.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// The first members of an element type (PyArray_Descr; the same in NumPy 1 and 2).
struct NumpyDtype {
    PyObject_HEAD
    PyTypeObject* scalar;
    char kind;
    char letter;
    char byte_order;
    char unused;
    int number;
};

/// An instance of numpy.dtype or of one of its classes.
bool is_numpy_dtype(PyObject* value) noexcept;

/// Whether NumPy compares a dtype with another such dtype without running user code.
/// It is not so where names or titles of fields are no exact str, for strings with an
/// `na_object`, and for types of other packages that compare by themselves. Runs none
/// itself. 10 ns, a record 1 us.
bool compares_quietly(PyObject* dtype) noexcept;

/// Whether an element type, null included, equals one that compares quietly. False for
/// one that does not. The same object costs 1 ns. Runs no user code.
bool same_numpy_dtype(PyObject* found, PyObject* quiet) noexcept;

}  // namespace guardtree
