// Where a thread's C stack ends, for CPython versions whose evaluator does not ask.
// SPDX-License-Identifier: MIT
#pragma once
#include "../guards/hook_thread.h"

namespace guardtree {

/// Reads the bounds of the calling thread's stack. The address under which frames are
/// refused: 256 KiB above the end (a quarter of a small stack), enough for one
/// evaluation and its error handling.
uintptr_t find_stack_floor() noexcept;

/// True when the caller's stack is below `floor`, or the floor is unknown.
inline bool is_below(uintptr_t floor) noexcept {
#if defined(__x86_64__)
    uintptr_t here;  // __builtin_frame_address would cost the caller a stack frame
    __asm__("mov %%rsp, %0" : "=r"(here));
    return here < floor;
#else
    return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < floor;
#endif
}

/// True when the calling thread is about to run out of C stack. `floor` is the thread's
/// own, read here at its first use.
inline bool is_stack_low(uintptr_t& floor) noexcept {
    if (floor == unread_stack_floor) [[unlikely]]
        floor = find_stack_floor();
    return is_below(floor);
}

}  // namespace guardtree
