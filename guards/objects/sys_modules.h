// sys.modules, as Python code sees it.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "dict_lookup.h"

namespace guardtree {

/// The name `modules`, an interned str; its value is null when there is no memory.
HashedKey name_of_modules() noexcept;

/// What `sys.modules` is now, borrowed; null where it was deleted. CPython itself goes
/// on with the dict that it began with when another object is put there. No user code.
PyObject* sys_modules() noexcept;

}  // namespace guardtree
