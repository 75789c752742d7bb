// The Python type of the objects that count the owners of Collected objects.
// SPDX-License-Identifier: MIT
#include "collected.h"

#include "no_memory.h"

namespace guardtree::collected_detail {
namespace {

struct CountingObject {
    PyObject base;
    const Operations* operations;
    void* shared;  ///< null until it is created
};

CountingObject* counting(PyObject* self) noexcept {
    return reinterpret_cast<CountingObject*>(self);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    return counting(self)->operations->traverse(counting(self)->shared, visit, arg);
}

void deallocate(PyObject* self) {
    if (void* shared = counting(self)->shared) {
        PyObject_GC_UnTrack(self);
        counting(self)->operations->destroy(shared);
    }
    PyObject_GC_Del(self);
}

/// Static, so that it exists before and after every interpreter.
PyTypeObject* counting_type() noexcept {
    static PyTypeObject type = [] {
        PyTypeObject made{};
        made.tp_name = "guardtree.Shared";
        made.tp_doc = "An entry or a table of guardtree, for the garbage collector.";
        made.tp_basicsize = sizeof(CountingObject);
        made.tp_flags =
            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION;
        made.tp_traverse = traverse;
        made.tp_dealloc = deallocate;
        return made;
    }();
    return PyType_Ready(&type) < 0 ? nullptr : &type;
}

}  // namespace

Owned<> new_object(const Operations& operations) {
    PyTypeObject* type = counting_type();
    CountingObject* made = type ? PyObject_GC_New(CountingObject, type) : nullptr;
    if (!made) {
        PyErr_Clear();
        throw_no_memory();
    }
    made->operations = &operations;
    made->shared = nullptr;
    return Owned<>::steal(&made->base);
}

void begin(PyObject* object, void* shared) noexcept {
    counting(object)->shared = shared;
    PyObject_GC_Track(object);
}

}  // namespace guardtree::collected_detail
