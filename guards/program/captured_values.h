// Values that guards checked, handed to the code that runs after a hit.
// SPDX-License-Identifier: MIT
//
// How it works. Captured values need no op of their own. The step of such a value
// writes it to one of the last owned places, and a walk that passes does not release
// those. Slots, and values that an assumption covers, are read after the walk. The
// result is the value that the guards saw, because values are not assumed if user code
// may run in between (eligible.cpp).
//
// If a program was compiled with captured values, the caller of each walk that passes
// must call take_captured or drop_captured exactly once, before anything else happens
// to the view or the values. Lookup (lookup.h) does this and passes the values on.
#pragma once
#include "program.h"

namespace guardtree {

/// Returns the tree to compile for a program that captures the values of `captured`,
/// nodes of the tree other than the root. This is the tree itself, or `room`, filled
/// with a copy in which each of those nodes has a check, so that guards fail if there
/// is no value. Null, with `problem` filled, if that fails.
const Tree* demanding(const Tree& tree, std::span<const NodeId> captured, Tree& room,
                      Diagnostic& problem);

/// The number of values that take_captured writes to `to`.
inline size_t captured_count(const Program& program) noexcept {
    return program.captured() ? program.captured()->values.size() : 0;
}

/// Writes new references to the values that the walk saw, in the order in which they
/// were requested. Values that an assumption covered are fetched here, in about 2 ns
/// per step.
void take_captured(const Program& program, const View& view, PyObject** values,
                   PyObject** to) noexcept;

/// Releases the values. A pending exception stays pending.
void drop_captured(const Program& program, PyObject** values) noexcept;

}  // namespace guardtree
