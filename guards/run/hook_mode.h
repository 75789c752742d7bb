// What the hook does for frames of a thread.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

namespace guardtree {

/// From `off` on each allows more than the one before it.
enum class Mode : int8_t {
    held = -1,    ///< records of a greenlet decide (HookRecord)
    off,          ///< callback None: plain runs, nothing is looked up
    lookup_only,  ///< callback False: hits run, misses run plain
    compile,      ///< a callable: asked on a miss
};

}  // namespace guardtree
