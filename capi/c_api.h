// The C interface from inside: the table that the capsule holds.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../guards/tree/tree.h"

#include "guardtree.h"

namespace guardtree {

/// What guards are for: a function and its code, or code alone. Held.
struct OwnedScope {
    Owned<PyCodeObject> code;
    Owned<> function;  ///< or null

    /// False with TypeError set for what is neither.
    static bool of(PyObject* object, OwnedScope& to);

    /// For the text's names: borrowed from this.
    Scope names() const noexcept;
};

/// The table; it lives as long as the process. `version`: of the library.
const guardtree_api* c_api(const char* version) noexcept;

/// Reads a Python GuardManager, for the layer that knows the type: false with an
/// exception set for what is none.
using GuardsReader = bool (*)(PyObject* guards, OwnedScope& scope, Tree& to);
void set_guards_reader(GuardsReader read) noexcept;

}  // namespace guardtree
