// Capsules for native and native_get that are made here: a C function of somebody
// else's, with what it needs, what it says of itself, and what it is equal to.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstddef>
#include <string>

#include "../../framelocals/ref.h"

namespace guardtree {

/// What goes with a C function; members may be null. `equal` only with `hash`. The
/// callbacks may raise and run user code.
struct ForeignContext {
    void* context = nullptr;
    void (*destroy)(void* context) = nullptr;
    PyObject* (*describe)(void* context) = nullptr;
    size_t (*hash)(void* context) = nullptr;
    int (*equal)(void* context, void* other) = nullptr;
};

/// The capsule of `function`, called `name` (NativeCheck::name, NativeGetter::name):
/// where an equal one is alive, that one, and the context is destroyed. So equality is
/// asked here and nowhere else: guards compare capsules by address. Null with an
/// exception set, and the context untouched, where a callback raises.
Owned<> foreign_capsule(const char* name, void* function,
                        const ForeignContext& context);

/// What describe says of a capsule; empty for one that says nothing, is not of
/// foreign_capsule's making, or whose describe raises. Leaves no exception.
std::string foreign_text(PyObject* capsule);

}  // namespace guardtree
