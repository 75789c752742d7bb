// Views of real frames for tests: a PEP 523 hook of our own around one call.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <functional>

#include "../../framelocals/views/view.h"

namespace guardtree::tests {

/// Calls `function` and shows the view of its frame before the first instruction.
/// Frames that the call enters further are not shown. Throws PythonError when the call
/// raises.
Owned<> call_viewed(PyObject* function, PyObject* arguments,
                    const std::function<void(const View&)>& look);

}  // namespace guardtree::tests
