// Where a C stack ends, for CPython versions whose evaluator does not ask.
// SPDX-License-Identifier: MIT
#pragma once
#include "../framelocals/compiler.h"
#include "../guards/run/hook_thread.h"

namespace guardtree {

/// Reads the bounds of the calling thread's stack. The address under which frames are
/// refused: 256 KiB above the end (a quarter of a small stack), enough for one
/// evaluation and its error handling.
uintptr_t find_stack_floor() noexcept;

/// True when the caller's stack is below `floor`, or the floor is unknown. That says
/// nothing of a fiber, whose stack lies anywhere: is_stack_low decides.
inline bool is_below(uintptr_t floor) noexcept {
    return stack_pointer() < floor;
}

/// True when the caller is about to run out of C stack. `floor` is the thread's own,
/// read here at its first use.
bool is_stack_low(uintptr_t& floor) noexcept;

}  // namespace guardtree
