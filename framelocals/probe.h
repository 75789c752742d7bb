// Checks that the running CPython has the memory layout of the headers that this was
// built with.
// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace guardtree {

/// Compares the interpreter's own table of offsets (3.13 and later) with the headers.
/// Then enters a function through a temporary PEP 523 hook and compares what the view
/// reads with what was passed. Empty if everything agrees, otherwise a message that
/// says what differs and what to do. Runs once, when the module loads; about 20 us.
/// Needs the GIL.
std::string layout_problem();

}  // namespace guardtree
