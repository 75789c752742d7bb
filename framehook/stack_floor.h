// Where a thread's C stack ends, for CPython versions whose evaluator does not ask.
// SPDX-License-Identifier: MIT
#pragma once

namespace guardtree {

/// Reads the bounds of the calling thread's stack. The address under which frames are
/// refused: 256 KiB above the end (a quarter of a small stack), enough for one
/// evaluation and its error handling.
const char* find_stack_floor() noexcept;

/// True when the calling thread is about to run out of C stack. `floor` is the thread's
/// own cache, null before its first use. One compare.
inline bool is_stack_low(const char*& floor) noexcept {
    if (!floor) [[unlikely]]
        floor = find_stack_floor();
    return static_cast<const char*>(__builtin_frame_address(0)) < floor;
}

}  // namespace guardtree
