// Makes capsules for native and native_get: a foreign C function with its context, its
// description and its equality.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstddef>
#include <string>

#include "../../framelocals/ref.h"

namespace guardtree {

/// The context and callbacks of a C function. Members may be null. `equal` requires
/// `hash`. The callbacks may raise and run user code.
struct ForeignContext {
    void* context = nullptr;
    void (*destroy)(void* context) = nullptr;
    PyObject* (*describe)(void* context) = nullptr;
    size_t (*hash)(void* context) = nullptr;
    int (*equal)(void* context, void* other) = nullptr;
};

/// Returns a capsule of `function` with the name `name` (NativeCheck::name,
/// NativeGetter::name). If an equal capsule is alive, returns that one and destroys the
/// context. Equality is decided only here, so guards can compare capsules by address.
/// If a callback raises, returns null with an exception set and leaves the context
/// untouched.
Owned<> foreign_capsule(const char* name, void* function,
                        const ForeignContext& context);

/// The result of `describe` for a capsule. Empty if it has none, if it raises, or if
/// foreign_capsule did not make the capsule. Leaves no exception.
std::string foreign_text(PyObject* capsule);

}  // namespace guardtree
