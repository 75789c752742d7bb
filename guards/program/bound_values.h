// Values that guards checked, handed to whoever runs what they let run.
// SPDX-License-Identifier: MIT
//
// How it works. No op is added: the step of such a value writes it into one of the last
// owned places, which a walk that passes does not drop. Slots are read afterwards, and
// so is what an assumption speaks for, which is what the guards would have seen: where
// user code may run in between, nothing is assumed of it (eligible.cpp).
//
// A program that was compiled to hand values over owes them to the caller of each walk
// that passes. Before anything else happens to the view or the values, take_bound or
// drop_bound is called, once: by Lookup (lookup.h), which gives them out.
#pragma once
#include "program.h"

namespace guardtree {

/// What to compile for a program that hands over the values of `bound`, nodes of the
/// tree but the root: the tree itself, or `room`, filled with a copy in which each of
/// them has a check, so that guards fail where there is no value. Null with `problem`
/// filled.
const Tree* demanding(const Tree& tree, std::span<const NodeId> bound, Tree& room,
                      Diagnostic& problem);

/// How many `to` of take_bound holds.
inline size_t bound_count(const Program& program) noexcept {
    return program.bound() ? program.bound()->values.size() : 0;
}

/// New references to the values that the walk saw, in the order they were asked for.
/// What an assumption spoke for is fetched here: about 2 ns for a step.
void take_bound(const Program& program, const View& view, PyObject** values,
                PyObject** to) noexcept;

/// For who does not want them. A pending exception stays pending.
void drop_bound(const Program& program, PyObject** values) noexcept;

}  // namespace guardtree
