// Steps and kinds one by one, outside a walk.
// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "op.h"

namespace guardtree {

/// Where a value is fetched from: a slot or, where `slot` is -1, the first step; then
/// step by step. Operands of the steps belong to the program it was asked of.
struct ValuePath {
    int32_t slot = -1;
    std::vector<Op> steps;
};

bool same_path(const ValuePath& a, const ValuePath& b) noexcept;

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
