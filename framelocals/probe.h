// Is the running CPython laid out as the headers this was built with say?
// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace guardtree {

/// Compares the interpreter's own table of offsets (3.13 and later) with the headers,
/// then enters one function through a temporary PEP 523 hook and compares what the view
/// reads with what was passed. Empty when all agrees, else a sentence that says what
/// differs and what to do. Run once, when the module loads; about 20 us. Needs the GIL.
std::string layout_problem();

}  // namespace guardtree
