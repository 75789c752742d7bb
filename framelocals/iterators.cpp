// Reads the state of builtin iterators, through the running version's file.
// SPDX-License-Identifier: MIT
#include "cpython/cpython.h"

#include "iterators.h"

namespace guardtree {

bool read_range_iterator(PyObject* iterator, RangeLeft& to) noexcept {
    if (Py_TYPE(iterator) != &PyRangeIter_Type) return false;
    CPython::range_left(iterator, to.start, to.step, to.length);
    return true;
}

bool read_tuple_iterator(PyObject* iterator, TupleLeft& to) noexcept {
    if (Py_TYPE(iterator) != &PyTupleIter_Type) return false;
    Py_ssize_t index = 0;
    PyObject* tuple = CPython::tuple_left(iterator, index);
    to = {};
    if (!tuple || index < 0 || index >= PyTuple_GET_SIZE(tuple)) return true;
    to.items = PySequence_Fast_ITEMS(tuple) + index;
    to.length = PyTuple_GET_SIZE(tuple) - index;
    return true;
}

}  // namespace guardtree
