// What the hook does for frames of a thread.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

namespace guardtree {

/// Each allows more than the one before it.
enum class Mode : uint8_t {
    off,          ///< callback None: plain runs, nothing is looked up
    lookup_only,  ///< callback False: hits run, misses run plain
    compile,      ///< a callable: asked on a miss
    passing,  ///< the next frame is a replacement called as a function: leave it alone
};

}  // namespace guardtree
