// The Python type GuardManager: creates, initialises and frees its objects.
// SPDX-License-Identifier: MIT
//
// It is not a pybind11 class: building a tree creates an object for each path, and
// pybind11 registers each instance in a map (bench `build`).
#include <Python.h>

#include <cstddef>
#include <string>

#include <structmember.h>

#include "bindings.h"
#include "function.h"
#include "guard_manager.h"

namespace guardtree {
namespace {

PyTypeObject* manager_type = nullptr;

GuardManagerObject* object_of(PyObject* self) noexcept {
    return reinterpret_cast<GuardManagerObject*>(self);
}

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) noexcept {
    PyObject* self = type->tp_alloc(type, 0);
    if (self) new (&object_of(self)->handle) GuardManager();
    return self;
}

int initialise(PyObject* self, PyObject* args, PyObject* kwargs) noexcept {
    static const char* names[] = {"scope", nullptr};
    PyObject* scope = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:GuardManager",
                                     const_cast<char**>(names), &scope)) {
        return -1;
    }
    const auto done = Owned<>::steal(translated([&] {
        GuardManager& handle = object_of(self)->handle;
        if (handle.has_tree()) {
            throw py::type_error(
                "this GuardManager has its scope already; make another");
        }
        handle = GuardManager(std::make_unique<GuardTree>(scope));
        return py::none().release().ptr();
    }));
    return done ? 0 : -1;
}

void free_object(PyObject* self) noexcept {
    PyObject_GC_UnTrack(self);
    GuardManagerObject* object = object_of(self);
    if (object->weak_references) PyObject_ClearWeakRefs(self);
    object->handle.~GuardManager();
    const auto type = Owned<PyTypeObject>::steal(Py_TYPE(self));
    type.get()->tp_free(self);
}

int traverse_object(PyObject* self, visitproc visit, void* arg) noexcept {
    Py_VISIT(Py_TYPE(self));
    return object_of(self)->handle.traverse(visit, arg);
}

int clear_object(PyObject* self) noexcept {
    object_of(self)->handle.clear();
    return 0;
}

/// Never -1, which is an error.
Py_hash_t address_hash(const void* address, size_t node) noexcept {
    const size_t hash = (reinterpret_cast<size_t>(address) >> 4) + node * 0x9e3779b1;
    return static_cast<Py_hash_t>(hash & PY_SSIZE_T_MAX);
}

/// What a handle stands for: a node of a tree. Two objects without a tree differ.
bool is_same_node(PyObject* a, PyObject* b) {
    const GuardManager& one = object_of(a)->handle;
    const GuardManager& other = object_of(b)->handle;
    if (!one.has_tree() || !other.has_tree()) return a == b;
    return &one.tree() == &other.tree() && one.node() == other.node();
}

/// Handles are compared as handles. A comparison with a value would look like a guard
/// and add none, so it is an error.
PyObject* compare(PyObject* self, PyObject* other, int operation) noexcept {
    return translated([&] {
        if (operation != Py_EQ && operation != Py_NE) {
            throw py::type_error(
                "a GuardManager has no order; to guard a range use .int_range(low, "
                "high), and to compare the values of two handles use .integers(...)");
        }
        if (!GuardManager::is_instance(other)) {
            throw py::type_error("expected another GuardManager, found " +
                                 std::string(Py_TYPE(other)->tp_name) +
                                 ": == and != compare handles, not the values that "
                                 "they stand for; to guard a value use .equals(value)");
        }
        const bool is_same = is_same_node(self, other);
        return PyBool_FromLong(is_same == (operation == Py_EQ));
    });
}

Py_hash_t hash(PyObject* self) noexcept {
    const GuardManager& handle = object_of(self)->handle;
    if (!handle.has_tree()) return address_hash(self, 0);
    try {
        return address_hash(&handle.tree(), handle.node());
    } catch (...) {
        translate_exception();
        return -1;
    }
}

int refuse_truth(PyObject*) noexcept {
    PyErr_SetString(
        PyExc_TypeError,
        "a GuardManager is neither true nor false; use .check(frame_locals) "
        "to evaluate it, or .is_truthy() to guard that a value is true");
    return -1;
}

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(GuardManagerHead, weak_references),
     READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

template <class Function>
void* slot(Function* function) noexcept {
    return reinterpret_cast<void*>(function);
}

}  // namespace

bool GuardManager::is_instance(py::handle object) noexcept {
    return PyObject_TypeCheck(object.ptr(), manager_type);
}

GuardManager& GuardManager::of(py::handle self) {
    if (is_instance(self)) return *from_python(self.ptr());
    Diagnostic problem;
    refuse_operand(problem, "a GuardManager", self.ptr());
    throw_diagnostic(problem);
}

py::object GuardManager::to_python(GuardManager handle) {
    PyObject* made = make(manager_type, nullptr, nullptr);
    if (!made) throw py::error_already_set();
    object_of(made)->handle = std::move(handle);
    return py::reinterpret_steal<py::object>(made);
}

py::object GuardManager::handle_on(PyObject* self, NodeId node) {
    const GuardManager& handle = *from_python(self);
    return to_python(
        GuardManager(Owned<>::share(handle.root(self)), &handle.tree(), node));
}

py::object make_guard_manager_type(py::module_& module) {
    static const char* const documentation =
        "GuardManager(scope)\n--\n\n"
        "A handle on a node of a guard tree: steps go to child nodes, kinds add checks "
        "and return the same handle. Made for a function, a code object, or the frame "
        "given to a callback, which it holds weakly. What is compiled (GuardedCode) is "
        "the tree at that moment.";
    PyType_Slot slots[] = {
        {Py_tp_doc, const_cast<char*>(documentation)},
        {Py_tp_new, slot(&make)},
        {Py_tp_init, slot(&initialise)},
        {Py_tp_dealloc, slot(&free_object)},
        {Py_tp_traverse, slot(&traverse_object)},
        {Py_tp_clear, slot(&clear_object)},
        {Py_tp_members, members},
        {Py_tp_richcompare, slot(&compare)},
        {Py_tp_hash, slot(&hash)},
        {Py_nb_bool, slot(&refuse_truth)},
        {0, nullptr},
    };
    PyType_Spec spec = {"guardtree._guardtree.GuardManager",
                        static_cast<int>(sizeof(GuardManagerObject)), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                        slots};
    auto type = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
    if (!type) throw py::error_already_set();
    manager_type = reinterpret_cast<PyTypeObject*>(type.ptr());
    module.attr("GuardManager") = type;
    return type;
}

void add_method(py::handle type, PyMethodDef& method) {
    const auto descriptor = py::reinterpret_steal<py::object>(
        PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), &method));
    if (!descriptor) throw py::error_already_set();
    py::setattr(type, method.ml_name, descriptor);
}

}  // namespace guardtree
