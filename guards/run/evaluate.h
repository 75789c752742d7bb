// Evaluating a program: the hot entry.
// SPDX-License-Identifier: MIT
#pragma once
#include "../program/program.h"

namespace guardtree {

/// The verdict of `program` on `view`. `values`: room for program.value_count(),
/// contents do not matter. On `error` the exception is in `error`, or pending when it
/// must reach the program (KeyboardInterrupt, SystemExit, MemoryError). User code runs
/// as in a look-up (lookup.h); the caller keeps the program, which hands nothing over:
/// an Entry's is asked by a Lookup. Needs the GIL; re-entrant; allocates nothing
/// itself. About 1.5 ns for each check of a local (bench `evaluate`).
Verdict evaluate(const Program& program, const View& view, PyObject** values,
                 Owned<>& error);

/// The same where the caller sees to what user code needs (lookup.h: UserCode, and a
/// view that does not only borrow), or where no guard runs any.
Verdict evaluate_prepared(const Program& program, const View& view, PyObject** values,
                          Owned<>& error);

}  // namespace guardtree
