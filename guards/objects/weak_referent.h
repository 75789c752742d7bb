// The object of a weak reference.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// The object of a weakref.ref or a subclass, borrowed. Null if it died, is being
/// destroyed, or if `value` is not a weakref.ref (a proxy is not one).
inline PyObject* weak_referent(PyObject* value) noexcept {
    if (!PyWeakref_CheckRef(value)) return nullptr;
    PyObject* object = reinterpret_cast<PyWeakReference*>(value)->wr_object;
    return object != Py_None && Py_REFCNT(object) > 0 ? object : nullptr;
}

}  // namespace guardtree
