// Steps and kinds one by one, outside a walk.
// SPDX-License-Identifier: MIT
#pragma once
#include "program.h"

namespace guardtree {

/// The child that a plain step fetches from a view (roots) or a value, borrowed; null
/// when it is not there, or `from` is null. About 2 ns.
PyObject* follow_step(const Op& step, const View& view, PyObject* from) noexcept;

/// What a kind with these operands (of its type; Op::operands) says of a value.
using KindCheck = bool (*)(const void* operands, PyObject* value) noexcept;

/// The check of a kind that runs no user code; of another, one that always fails.
KindCheck check_of_kind(OpCode code) noexcept;

/// Runs no user code and makes no reference, so that `fetch` may take it.
bool is_plain_step(const Op& step) noexcept;

/// The value at the end of a path of plain steps, borrowed; null when it is not there.
/// About 2 ns for a step.
PyObject* fetch(const ValuePath& path, const View& view) noexcept;

}  // namespace guardtree
