// The internal side of the C interface: the table in the capsule.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../guards/tree/tree.h"

#include "guardtree.h"

namespace guardtree {

/// The scope of guards: a function and its code, or only code. Strong references.
struct OwnedScope {
    Owned<PyCodeObject> code;
    Owned<> function;  ///< or null

    /// Returns false, with TypeError set, for other objects.
    static bool of(PyObject* object, OwnedScope& to);

    /// The scope for names in text. Borrowed from this object.
    Scope names() const noexcept;
};

/// The table, which lives as long as the process. `version`: the library's version.
const guardtree_api* c_api(const char* version) noexcept;

/// Reads a Python GuardManager. The layer that knows the type sets it. Returns false,
/// with an exception set, for other objects.
using GuardsReader = bool (*)(PyObject* guards, OwnedScope& scope, Tree& to);
void set_guards_reader(GuardsReader read) noexcept;

}  // namespace guardtree
