// The Python type Dispatcher: calling, binding as a method, freeing its objects.
// SPDX-License-Identifier: MIT
//
// Calls come in by its vectorcall slot, so that no tuple and no dict is made for one.
#include <Python.h>

#include <cstddef>
#include <utility>

#include <structmember.h>

#include "../boxed.h"

#include "dispatcher.h"

namespace guardtree {
namespace {

PyTypeObject* dispatcher_type = nullptr;
PyObject* initialiser = nullptr;

PyObject* call(PyObject* self, PyObject* const* arguments, size_t count,
               PyObject* names) {
    const auto& calls = DispatcherObject::of(self)->calls;
    if (calls) [[likely]]
        return DispatchedCalls::call(*calls, {arguments, count, names});
    PyErr_SetString(PyExc_TypeError,
                    "this Dispatcher was not initialised, or the garbage collector has "
                    "emptied it: call its class for another");
    return nullptr;
}

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) noexcept {
    PyObject* self = type->tp_alloc(type, 0);
    if (!self) return nullptr;
    new (&DispatcherObject::of(self)->calls) Shared<DispatchedCalls>();
    DispatcherObject::of(self)->vectorcall = call;
    return self;
}

int initialise(PyObject* self, PyObject* arguments, PyObject* keywords) noexcept {
    return boxed_detail::initialise(initialiser, self, arguments, keywords);
}

/// Takes the calls out of the object; what they refer to goes with the result.
Shared<DispatchedCalls> take_calls(PyObject* self) noexcept {
    auto taken = std::exchange(DispatcherObject::of(self)->calls, {});
    if (taken) taken->release();
    return taken;
}

void free_object(PyObject* self) noexcept {
    PyObject_GC_UnTrack(self);
    DispatcherObject* object = DispatcherObject::of(self);
    if (object->weak_references) PyObject_ClearWeakRefs(self);
    take_calls(self);
    Owned<>::steal(std::exchange(object->attributes, nullptr)).reset();
    object->calls.~Shared();
    const auto type = Owned<PyTypeObject>::steal(Py_TYPE(self));
    type.get()->tp_free(self);
}

int traverse_object(PyObject* self, visitproc visit, void* arg) noexcept {
    Py_VISIT(Py_TYPE(self));
    const DispatcherObject* object = DispatcherObject::of(self);
    Py_VISIT(object->attributes);
    return object->calls.is_only() ? object->calls->traverse(visit, arg) : 0;
}

int clear_object(PyObject* self) noexcept {
    take_calls(self);
    Owned<>::steal(std::exchange(DispatcherObject::of(self)->attributes, nullptr))
        .reset();
    return 0;
}

/// As functions do: an attribute of a class is a method of its instances.
PyObject* bind(PyObject* self, PyObject* instance, PyObject*) noexcept {
    if (!instance || instance == Py_None) return Owned<>::share(self).release();
    return PyMethod_New(self, instance);
}

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(DispatcherHead, weak_references),
     READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(DispatcherHead, attributes), READONLY,
     nullptr},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(DispatcherHead, vectorcall), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

template <class Function>
void* slot(Function* function) noexcept {
    return reinterpret_cast<void*>(function);
}

constexpr const char* about =
    "Dispatcher(signature, on_miss=None, *, entry_limit=1024, when_full='evict')\n"
    "--\n\n"
    "A callable that runs, for each call, the payload of the first entry whose guards "
    "pass. `signature`: a Python function or another callable, which runs calls that "
    "no entry serves, or an inspect.Signature or code object, below which nothing "
    "runs. `on_miss(call)` is asked about such a call: it fills call.guards and "
    "returns what runs: a callable, code where a Python function is below, ASK_AGAIN "
    "(plain this time), or a TableEntry that it added. At `entry_limit` a new entry "
    "replaces the least recently used one ('evict'), or on_miss is no longer asked "
    "('keep').";

}  // namespace

DispatcherObject* find_dispatcher(py::handle object) noexcept {
    if (!Py_IS_TYPE(object.ptr(), dispatcher_type)) return nullptr;
    return DispatcherObject::of(object.ptr());
}

void set_dispatcher_initialiser(py::object made) {
    initialiser = made.release().ptr();
}

py::object make_dispatcher_type(py::module_& module) {
    PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(about)},
                           {Py_tp_new, slot(&make)},
                           {Py_tp_init, slot(&initialise)},
                           {Py_tp_dealloc, slot(&free_object)},
                           {Py_tp_traverse, slot(&traverse_object)},
                           {Py_tp_clear, slot(&clear_object)},
                           {Py_tp_call, slot(&PyVectorcall_Call)},
                           {Py_tp_descr_get, slot(&bind)},
                           {Py_tp_members, members},
                           {Py_tp_getset, properties},
                           {0, nullptr}};
    PyType_Spec spec = {"guardtree._guardtree.Dispatcher",
                        static_cast<int>(sizeof(DispatcherObject)), 0,
                        static_cast<unsigned>(Py_TPFLAGS_DEFAULT) |
                            static_cast<unsigned>(Py_TPFLAGS_HAVE_GC) |
                            static_cast<unsigned>(Py_TPFLAGS_HAVE_VECTORCALL) |
                            static_cast<unsigned>(Py_TPFLAGS_METHOD_DESCRIPTOR),
                        slots};
    auto type = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
    if (!type) throw py::error_already_set();
    dispatcher_type = reinterpret_cast<PyTypeObject*>(type.ptr());
    module.attr("Dispatcher") = type;
    return type;
}

}  // namespace guardtree
