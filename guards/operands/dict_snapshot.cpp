// Dicts and their state as operands.
// SPDX-License-Identifier: MIT
#include "dict_snapshot.h"

#include "../../framelocals/attributes.h"
#include "../../framelocals/no_memory.h"

namespace guardtree {
namespace {

PyObject* items_of(const DictSnapshot& snapshot) noexcept {
    return reinterpret_cast<PyObject*>(static_cast<uintptr_t>(snapshot.state));
}

bool same_items(PyObject* dict, PyObject* items) noexcept {
    const Py_ssize_t count = PyTuple_GET_SIZE(items);
    if (PyDict_GET_SIZE(dict) * 2 != count) return false;
    Py_ssize_t position = 0;
    Py_ssize_t i = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    while (i < count && PyDict_Next(dict, &position, &key, &value)) {
        if (key != PyTuple_GET_ITEM(items, i)) return false;
        if (value != PyTuple_GET_ITEM(items, i + 1)) return false;
        i += 2;
    }
    return i == count;
}

Owned<> items_in(PyObject* dict) noexcept {
    auto items = Owned<>::steal(PyTuple_New(PyDict_GET_SIZE(dict) * 2));
    Py_ssize_t position = 0;
    Py_ssize_t i = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    while (items && PyDict_Next(dict, &position, &key, &value)) {
        PyTuple_SET_ITEM(items.get(), i++, Owned<>::share(key).release());
        PyTuple_SET_ITEM(items.get(), i++, Owned<>::share(value).release());
    }
    return items;
}

}  // namespace

bool DictSnapshot::read(PyObject* from, DictSnapshot& to, References& keep,
                        Diagnostic& problem) {
    if (!PyDict_CheckExact(from)) {
        refuse_operand(problem, expects, from);
        return false;
    }
    to = {from, dict_version(from)};
    keep.push_back(Owned<>::share(from));
    // If there is a version, the items are only kept alive. A specialised store of an
    // attribute drops the old value before it makes the new version
    // (STORE_ATTR_WITH_HINT, Python/ceval.c of 3.11). Since the items are kept alive,
    // no finalizer can check the guard in between.
    Owned<> items = items_in(from);
    if (!items) {
        drop_exception();
        problem = {PyExc_MemoryError, "no memory for a dict's items"};
        return false;
    }
    if (!to.state) to.state = reinterpret_cast<uintptr_t>(items.get());
    keep.push_back(std::move(items));
    return true;
}

bool DictSnapshot::matches(PyObject* value) const noexcept {
    if (value != dict) return false;
    const uint64_t version = dict_version(dict);
    return version ? version == state : same_items(dict, items_of(*this));
}

bool same(const DictSnapshot& a, const DictSnapshot& b) noexcept {
    if (a.dict != b.dict) return false;
    if (a.state == b.state) return true;
    if (dict_version(a.dict)) return false;
    PyObject* first = items_of(a);
    PyObject* second = items_of(b);
    const Py_ssize_t count = PyTuple_GET_SIZE(first);
    if (PyTuple_GET_SIZE(second) != count) return false;
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (PyTuple_GET_ITEM(first, i) != PyTuple_GET_ITEM(second, i)) return false;
    }
    return true;
}

size_t hash_of(const DictSnapshot& a) noexcept {
    return std::hash<const void*>{}(a.dict);
}

std::string text_of(const DictSnapshot& a) {
    return short_repr(a.dict);
}

}  // namespace guardtree
