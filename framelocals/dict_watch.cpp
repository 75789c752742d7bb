// Dict watchers, through the running version's file.
// SPDX-License-Identifier: MIT
#include "cpython/cpython.h"

#include "dict_watch.h"

#include "cpython/dict_layout.h"

namespace guardtree {
namespace {

constexpr int no_watcher = -1;
int watcher_id = no_watcher;

}  // namespace

bool take_dict_watcher(DictWatcher watcher) noexcept {
    if (watcher_id == no_watcher) watcher_id = CPython::add_dict_watcher(watcher);
    if (watcher_id == no_watcher) PyErr_Clear();
    return watcher_id != no_watcher;
}

void give_dict_watcher_back() noexcept {
    if (watcher_id != no_watcher) CPython::clear_dict_watcher(watcher_id);
    watcher_id = no_watcher;
}

bool has_dict_watcher() noexcept {
    return watcher_id != no_watcher;
}

bool watch_dict(PyObject* dict) noexcept {
    if (CPython::watch_dict(watcher_id, dict)) return true;
    PyErr_Clear();
    return false;
}

void unwatch_dict(PyObject* dict) noexcept {
    CPython::unwatch_dict(watcher_id, dict);
}

DictNews dict_news(PyObject* dict) noexcept {
    if (has_dict_watcher() && !CPython::hides_stores(dict)) return DictNews::events;
    return CPython::dict_tag(dict) ? DictNews::tag : DictNews::none;
}

const uint64_t* dict_tag(PyObject* dict) noexcept {
    return CPython::dict_tag(dict);
}

PyObject* const* place_of_dict(PyObject* object) noexcept {
    PyTypeObject* type = Py_TYPE(object);
    if (PyType_Check(object)) return nullptr;  // the dict of a class is its namespace
    if (!has_managed_dict(type)) {
        if (type->tp_dictoffset == 0) return nullptr;
        PyObject** place = _PyObject_GetDictPtr(object);
        return place && *place ? place : nullptr;
    }
    return place_of_managed_dict(object);
}

}  // namespace guardtree
