// Reads the remaining items of builtin iterators, without advancing them.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// The remaining numbers of a range_iterator: `length` numbers, starting with `start`.
struct RangeLeft {
    long start = 0;
    long step = 0;
    long length = 0;
};

/// False if `iterator` is not a range_iterator. (Ranges beyond a machine word have
/// another type, longrange_iterator.)
bool read_range_iterator(PyObject* iterator, RangeLeft& to) noexcept;

/// The remaining items of a tuple_iterator, borrowed.
struct TupleLeft {
    PyObject* const* items = nullptr;
    Py_ssize_t length = 0;
};

/// False if `iterator` is not a tuple_iterator.
bool read_tuple_iterator(PyObject* iterator, TupleLeft& to) noexcept;

}  // namespace guardtree
