// Fetching one value outside a walk.
// SPDX-License-Identifier: MIT
#pragma once
#include "program.h"

namespace guardtree {

/// Runs no user code and makes no reference, so that `fetch` may take it.
bool is_plain_step(const Op& step) noexcept;

/// The value at the end of a path of plain steps, borrowed; null when it is not there.
/// About 2 ns for a step.
PyObject* fetch(const ValuePath& path, const View& view) noexcept;

}  // namespace guardtree
