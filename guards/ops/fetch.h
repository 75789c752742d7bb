// Runs single steps and kinds outside a walk.
// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "op.h"

namespace guardtree {

/// How to fetch a value: from a slot, or by the first step if `slot` is -1, and then
/// step by step. The operands of the steps belong to the program that returned the
/// path.
struct ValuePath {
    int32_t slot = -1;
    std::vector<Op> steps;
};

bool same_path(const ValuePath& a, const ValuePath& b) noexcept;

/// Returns the child that a plain step fetches from a view (roots) or a value. The
/// result is borrowed, and null if there is no such child or `from` is null. For a step
/// that peeks (hooks.h), null if it would run user code. About 2 ns.
PyObject* follow_step(const Op& step, const View& view, PyObject* from) noexcept;

/// What follow_step does for steps of one code, without its switch.
using StepFetch = PyObject* (*)(const Op& step, const View& view,
                                PyObject* from) noexcept;

/// The fetch of a plain step, or of one that peeks.
StepFetch fetch_of_step(OpCode code) noexcept;

/// Runs a kind on a value. `operands` points to the kind's operands (Op::operands).
using KindCheck = bool (*)(const void* operands, PyObject* value) noexcept;

/// The check of a kind that runs no user code. For other kinds, a check that always
/// fails.
KindCheck check_of_kind(OpCode code) noexcept;

/// Whether a step has `peek` (hooks.h).
bool peeks(const Op& step) noexcept;

/// Whether a step runs no user code and returns a borrowed reference, or peeks, so that
/// `fetch` can take it.
bool is_plain_step(const Op& step) noexcept;

/// Whether a step of a path makes its value: it runs no user code, and returns a new
/// reference.
bool makes_value(const ValuePath& path) noexcept;

/// Whether `fetch` can take all steps of a path: they are plain, and at most one makes
/// its value.
bool can_be_fetched(const ValuePath& path) noexcept;

/// The value at the end of a path of plain steps. Borrowed, and null if it does not
/// exist. About 2 ns per step.
PyObject* fetch(const ValuePath& path, const View& view) noexcept;

/// The same for all paths that can be fetched. `made` holds what a step makes.
PyObject* fetch(const ValuePath& path, const View& view, Owned<>& made) noexcept;

}  // namespace guardtree
