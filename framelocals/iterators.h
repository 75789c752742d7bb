// Reading what builtin iterators will still give, without advancing them.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// What a range_iterator will still give: `length` numbers, `start` first.
struct RangeLeft {
    long start = 0;
    long step = 0;
    long length = 0;
};

/// False when `iterator` is not a range_iterator. (Ranges beyond a machine word have
/// another type, longrange_iterator.)
bool read_range_iterator(PyObject* iterator, RangeLeft& to) noexcept;

/// Items that a tuple_iterator will still give, borrowed.
struct TupleLeft {
    PyObject* const* items = nullptr;
    Py_ssize_t length = 0;
};

/// False when `iterator` is not a tuple_iterator.
bool read_tuple_iterator(PyObject* iterator, TupleLeft& to) noexcept;

}  // namespace guardtree
