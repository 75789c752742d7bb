// Finds the end of the C stack, for CPython versions whose evaluator does not check it.
// SPDX-License-Identifier: MIT
#pragma once
#include "../framelocals/compiler.h"
#include "../guards/run/hook_thread.h"

namespace guardtree {

/// Reads the bounds of the calling thread's stack. Returns the address below which
/// frames are refused: 256 KiB above the end (or a quarter of a small stack), which is
/// enough for one evaluation and its error handling.
uintptr_t find_stack_floor() noexcept;

/// True if the caller's stack is below `floor`, or the floor is unknown. This is not
/// reliable for a fiber, whose stack may be anywhere; is_stack_low decides.
inline bool is_below(uintptr_t floor) noexcept {
    return stack_pointer() < floor;
}

/// True if the caller is about to run out of C stack. `floor` is the thread's own; it
/// is read here on first use.
bool is_stack_low(uintptr_t& floor) noexcept;

}  // namespace guardtree
