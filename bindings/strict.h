// Strict mode: every look-up is answered three times, and the answers compared.
// SPDX-License-Identifier: MIT
#pragma once
#include "../guards/lookup/table.h"
#include "../guards/tree/tree.h"

namespace guardtree {

/// The table's answer is compared with that of trying all entries in order, and with
/// what Python means by their texts (guardtree.oracle). For people who look for an
/// error in guardtree or in guards of theirs; slow, and guards that run user code run
/// it up to three times. Process-wide; needs the GIL.
bool is_strict() noexcept;

/// What the oracle needs of an entry that is being made: (text, names). Null where it
/// could not say, and when strict mode is off. Leaves no exception.
Owned<> meaning_of(const Tree& tree, PyCodeObject* code);

/// False with an exception set: StrictError with all answers, or what a guard lets
/// through. `found`: the table's answer for this view, null for none.
bool is_right_answer(const View& view, const Table& table, const Entry* found);

}  // namespace guardtree
