// Which of Dynamo's entries a thread may run: those of its backend and its region.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <string>

#include "native_capsule.h"
#include "ref.h"

namespace guardtree {
namespace {

/// Backends have numbers from 1; a thread that wants 0 takes the entries of all. Region
/// -1 is the default one: its entries also serve threads that want another.
struct EntryKey {
    uint64_t backend = 0;
    int64_t region = -1;
};

inline thread_local EntryKey wanted_key;

/// guardtree.native_pure: the value says nothing.
int check_entry_key(PyObject*, void* context) {
    const auto& key = *static_cast<const EntryKey*>(context);
    const EntryKey& wanted = wanted_key;
    return (wanted.backend == key.backend || wanted.backend == 0) &&
           (wanted.region == key.region || key.region == -1);
}

PyObject* found_entry_key(PyObject*, void*) {
    return PyUnicode_FromFormat("backend %llu, region %lld",
                                static_cast<unsigned long long>(wanted_key.backend),
                                static_cast<long long>(wanted_key.region));
}

/// entry_key_check(backend, region) -> a capsule for GuardManager.native_pure.
PyObject* entry_key_check(PyObject*, PyObject* args) {
    EntryKey key;
    if (!PyArg_ParseTuple(args, "KL", &key.backend, &key.region)) return nullptr;
    static NativeFound functions{reinterpret_cast<void*>(&check_entry_key),
                                 &found_entry_key};
    return native_pure_capsule(functions, key);
}

/// want_backend(number): what this thread wants from now on.
PyObject* want_backend(PyObject*, PyObject* number) {
    const unsigned long long wanted = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred()) return nullptr;
    wanted_key.backend = wanted;
    Py_RETURN_NONE;
}

/// want_region(number) -> the prior one.
PyObject* want_region(PyObject*, PyObject* number) {
    const long long wanted = PyLong_AsLongLong(number);
    if (PyErr_Occurred()) return nullptr;
    const int64_t prior = wanted_key.region;
    wanted_key.region = wanted;
    return PyLong_FromLongLong(prior);
}

PyObject* wanted_region(PyObject*, PyObject*) {
    return PyLong_FromLongLong(wanted_key.region);
}

}  // namespace
}  // namespace guardtree
