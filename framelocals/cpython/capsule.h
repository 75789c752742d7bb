// Reads the context of capsules.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// The head of a `PyCapsule` (Objects/capsule.c). The same in 3.11 to 3.15.
struct CapsuleHead {
    PyObject_HEAD
    void* pointer;
    const char* name;
    void* context;
};

/// PyCapsule_GetContext of a capsule (not checked), without a call.
inline void* context_of(PyObject* capsule) noexcept {
    return reinterpret_cast<const CapsuleHead*>(capsule)->context;
}

}  // namespace guardtree
