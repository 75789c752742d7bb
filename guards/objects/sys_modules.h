// sys.modules, as Python code sees it.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "dict_lookup.h"

namespace guardtree {

/// The name `modules`, an interned str. `value` is null if there is no memory.
HashedKey name_of_modules() noexcept;

/// The current value of `sys.modules`, borrowed. Null if it was deleted. If it is
/// replaced by another object, CPython itself continues to use the original dict. Runs
/// no user code.
PyObject* sys_modules() noexcept;

}  // namespace guardtree
