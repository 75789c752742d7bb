// An element of a list or tuple by its index.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "ref.h"

namespace guardtree {

/// The element at `index` of the `size` elements of a list or tuple. A negative index
/// counts from the end. Null if there is none.
[[gnu::always_inline]] inline Borrowed<> element_at(PyObject* const* elements,
                                                    Py_ssize_t size,
                                                    Py_ssize_t index) noexcept {
    const auto place = static_cast<size_t>(index < 0 ? index + size : index);
    if (place >= static_cast<size_t>(size)) [[unlikely]]
        return nullptr;
    return elements[place];
}

/// An element of a list or of an instance of a subclass.
inline Borrowed<> list_element(PyObject* list, Py_ssize_t index) noexcept {
    return element_at(reinterpret_cast<PyListObject*>(list)->ob_item, Py_SIZE(list),
                      index);
}

/// An element of a tuple or of an instance of a subclass.
inline Borrowed<> tuple_element(PyObject* tuple, Py_ssize_t index) noexcept {
    return element_at(reinterpret_cast<PyTupleObject*>(tuple)->ob_item, Py_SIZE(tuple),
                      index);
}

}  // namespace guardtree
