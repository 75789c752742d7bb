// Evaluates a program: the entry point of the hot path.
// SPDX-License-Identifier: MIT
#pragma once
#include "../program/program.h"

namespace guardtree {

/// Returns the verdict of `program` on `view`. `values` has room for
/// program.value_count() values; its contents do not matter. If the verdict is `error`,
/// the exception is in `error`, or pending if it must reach the program
/// (KeyboardInterrupt, SystemExit, MemoryError). User code runs under the same
/// conditions as in a look-up (lookup.h). The caller keeps the program alive. The
/// program must not have captured values; use a Lookup for the program of an Entry.
/// Needs the GIL. Re-entrant. Allocates nothing itself. About 1.5 ns per check of a
/// local (bench `evaluate`).
Verdict evaluate(const Program& program, const View& view, PyObject** values,
                 Owned<>& error);

/// The same, for callers that provide what user code needs (lookup.h: UserCode, and a
/// view that does not only borrow), or for programs that run no user code.
Verdict evaluate_prepared(const Program& program, const View& view, PyObject** values,
                          Owned<>& error);

}  // namespace guardtree
