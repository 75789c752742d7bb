// Whether a call of an nn.Module does nothing but call its class's `forward`.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "ref.h"

namespace guardtree {
namespace {

/// A class that was looked at in Python, by place in a list.
enum ClassPart : Py_ssize_t {
    known_class_part,
    version_part,  ///< CPython's version tag of then; 0 where it has none
    look_part,     ///< looks again: gives a version, or None where it is not plain now
    class_count
};

/// What is asked of a module, by place in a tuple.
enum ModulePart : Py_ssize_t {
    owner_part,        ///< the module
    owner_class_part,  ///< its class, as `ClassPart` says
    globals_part,      ///< the dict that has the hooks of all modules
    in_place_part,     ///< whether a function compiled in place would run instead
    module_part_count
};

bool are_class_parts(PyObject* parts) {
    return PyList_CheckExact(parts) && PyList_GET_SIZE(parts) == class_count &&
           PyType_Check(PyList_GET_ITEM(parts, known_class_part)) &&
           PyLong_CheckExact(PyList_GET_ITEM(parts, version_part));
}

bool are_module_parts(PyObject* parts) {
    return PyTuple_CheckExact(parts) && PyTuple_GET_SIZE(parts) == module_part_count &&
           are_class_parts(PyTuple_GET_ITEM(parts, owner_class_part)) &&
           PyDict_Check(PyTuple_GET_ITEM(parts, globals_part));
}

/// Whether a class and its bases are as they were when Python looked at them. If they
/// are not, Python looks again, for the calls that follow. May set an exception.
bool is_known_class(PyTypeObject* type, PyObject* parts) {
    if (reinterpret_cast<PyObject*>(type) != PyList_GET_ITEM(parts, known_class_part))
        return false;
    const unsigned long version =
        PyLong_AsUnsignedLong(PyList_GET_ITEM(parts, version_part));
    if (!version) return false;
    if (type->tp_version_tag == version) [[likely]]
        return true;
    const auto look = Owned<>::share(PyList_GET_ITEM(parts, look_part));
    auto found = Owned<>::steal(PyObject_CallNoArgs(look.get()));
    if (found && PyLong_CheckExact(found.get()))
        PyList_SetItem(parts, version_part, found.release());
    return false;
}

template <size_t count>
struct Names {
    explicit Names(const char* const (&texts)[count]) {
        for (size_t i = 0; i < count; ++i)
            all[i] = PyUnicode_InternFromString(texts[i]);
    }

    PyObject* all[count];
};

/// Whether dicts of hooks are all there, and empty.
template <size_t count>
bool are_empty(PyObject* dict, const Names<count>& names) {
    for (PyObject* const name : names.all) {
        PyObject* const found = PyDict_GetItemWithError(dict, name);
        if (!found || !PyDict_Check(found) || PyDict_GET_SIZE(found)) return false;
    }
    return true;
}

bool has_global_hooks(PyObject* globals) {
    static const Names<6> names({"_global_backward_pre_hooks", "_global_backward_hooks",
                                 "_global_forward_pre_hooks", "_global_forward_hooks",
                                 "_global_forward_hooks_always_called",
                                 "_global_forward_hooks_with_kwargs"});
    return !are_empty(globals, names);
}

bool has_no_hooks(PyObject* dict) {
    static const Names<4> names({"_backward_hooks", "_backward_pre_hooks",
                                 "_forward_hooks", "_forward_pre_hooks"});
    return are_empty(dict, names);
}

bool is_compiled_in_place(PyObject* dict) {
    static PyObject* const name = PyUnicode_InternFromString("_compiled_call_impl");
    PyObject* const found = PyDict_GetItemWithError(dict, name);
    return found && found != Py_None;
}

bool has_own_call(PyObject* dict) {
    static PyObject* const name = PyUnicode_InternFromString("_call_impl");
    return PyDict_GetItemWithError(dict, name) != nullptr;
}

bool has_own_forward(PyObject* dict) {
    static PyObject* const name = PyUnicode_InternFromString("forward");
    return PyDict_GetItemWithError(dict, name) != nullptr;
}

/// Whether the module has no hooks, and neither `_call_impl` nor `forward` of its own.
bool only_calls_forward(PyObject* parts) {
    PyObject* const module = PyTuple_GET_ITEM(parts, owner_part);
    if (has_global_hooks(PyTuple_GET_ITEM(parts, globals_part)) ||
        !is_known_class(Py_TYPE(module), PyTuple_GET_ITEM(parts, owner_class_part))) {
        return false;
    }
    const auto dict = Owned<>::steal(PyObject_GenericGetDict(module, nullptr));
    return dict && has_no_hooks(dict.get()) && !has_own_forward(dict.get()) &&
           !has_own_call(dict.get()) &&
           !(PyTuple_GET_ITEM(parts, in_place_part) == Py_True &&
             is_compiled_in_place(dict.get()));
}

/// class_version(type): CPython's version tag of a class; 0 where it can have none.
PyObject* class_version(PyObject*, PyObject* type) {
    if (!PyType_Check(type))
        return PyErr_Format(PyExc_TypeError, "expected a class, found %R", type);
    static PyObject* const name = PyUnicode_InternFromString("__init__");
    auto* const found = reinterpret_cast<PyTypeObject*>(type);
    _PyType_Lookup(found, name);  // Gives the class a tag.
    return PyLong_FromUnsignedLong(found->tp_version_tag);
}

}  // namespace
}  // namespace guardtree
