// Decides which C functions behind `len()` are CPython's own.
// SPDX-License-Identifier: MIT
#include "builtin_length.h"

namespace guardtree {
namespace {

lenfunc deque_slot = nullptr;
PyTypeObject* deque_type = nullptr;  // never freed

bool is_builtin(lenfunc slot) noexcept {
    PyTypeObject* const types[] = {&PySet_Type,   &PyFrozenSet_Type, &PyUnicode_Type,
                                   &PyBytes_Type, &PyByteArray_Type, &PyRange_Type,
                                   &PyList_Type,  &PyTuple_Type};
    for (PyTypeObject* type : types) {
        if (slot == length_slot(type)) return true;
    }
    return slot == deque_slot;
}

}  // namespace

void set_up_builtin_length() noexcept {
    if (deque_slot) return;
    const auto module = Owned<>::steal(PyImport_ImportModule("_collections"));
    const auto type = Owned<>::steal(
        module ? PyObject_GetAttrString(module.get(), "deque") : nullptr);
    PyErr_Clear();
    if (type && PyType_Check(type.get())) {
        deque_type = reinterpret_cast<PyTypeObject*>(type.new_reference());
        deque_slot = length_slot(deque_type);
    }
}

Py_ssize_t builtin_length_of_others(PyObject* value) noexcept {
    if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) return Py_SIZE(value);
    const lenfunc slot = length_slot(Py_TYPE(value));
    if (!slot || !is_builtin(slot)) return -1;
    const Py_ssize_t length = slot(value);
    // a range whose length does not fit in a machine word
    if (length < 0) PyErr_Clear();
    return length;
}

bool keeps_length_of_dict(PyObject* value) noexcept {
    return PyType_HasFeature(Py_TYPE(value), Py_TPFLAGS_IMMUTABLETYPE) &&
           has_length_of_dict(value);
}

Owned<> builtin_deque_item(PyObject* value, Py_ssize_t index) noexcept {
    if (!deque_type || !PyObject_TypeCheck(value, deque_type)) return {};
    const Py_ssize_t size = deque_slot(value);
    const Py_ssize_t place = index < 0 ? index + size : index;
    if (place < 0 || place >= size) return {};
    return Owned<>::steal(deque_type->tp_as_sequence->sq_item(value, place));
}

}  // namespace guardtree
