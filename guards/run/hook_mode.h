// The modes of the hook, one per thread.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

namespace guardtree {

/// From `off` on, each mode allows more than the one before it.
enum class Mode : int8_t {
    held = -1,  ///< the records of a greenlet decide (HookRecord)
    off,        ///< callback None: frames run without a look-up
    /// callback False: a hit runs its entry, a miss runs the frame as written
    lookup_only,
    compile,  ///< a callable, which is called on a miss
};

}  // namespace guardtree
