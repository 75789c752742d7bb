// Strict mode: every look-up is evaluated three times, and the results are compared.
// SPDX-License-Identifier: MIT
#pragma once
#include "../guards/lookup/table.h"
#include "../guards/tree/tree.h"

namespace guardtree {

/// Whether strict mode is on. It compares the table's result with the result of trying
/// all entries in order, and with the Python meaning of their texts (guardtree.oracle).
/// It is for users who search for an error in guardtree or in their own guards. It is
/// slow, and guards that run user code run it up to three times. Process-wide; needs
/// the GIL.
bool is_strict() noexcept;

/// The data that the oracle needs for a new entry: (text, names). Null if there is no
/// text, and if strict mode is off. Leaves no exception.
Owned<> meaning_of(const Tree& tree, PyCodeObject* code);

/// Returns false with an exception set: a StrictError with all results, or an exception
/// of a guard that must propagate. `found`: the table's result for this view, or null.
bool is_right_answer(const View& view, const Table& table, const Entry* found);

}  // namespace guardtree
