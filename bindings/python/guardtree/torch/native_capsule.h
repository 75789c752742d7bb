// Capsules for GuardManager.native_pure that own what they compare.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <utility>

#include "native_found.h"

namespace guardtree {
namespace {

/// A new capsule that passes `context` to `functions`, which outlive it. Null with an
/// exception.
template <class Context>
PyObject* native_pure_capsule(NativeFound& functions, Context context) {
    PyObject* capsule =
        PyCapsule_New(&functions, native_pure_found, [](PyObject* self) {
            delete static_cast<Context*>(PyCapsule_GetContext(self));
        });
    if (capsule) PyCapsule_SetContext(capsule, new Context(std::move(context)));
    return capsule;
}

}  // namespace
}  // namespace guardtree
