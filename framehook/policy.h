// What a caller may settle: misses, warm-up, entries that are too many.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>

namespace guardtree {

/// What becomes of a frame that no entry serves.
enum class OnMiss : uint8_t {
    ask,    ///< the callback
    plain,  ///< it runs as it was
    raise,  ///< GuardMiss, where the code has entries; else it is asked
};

/// What becomes of a new entry when there are as many as may be.
enum class WhenFull : uint8_t {
    evict,  ///< it takes the place of the one hit longest ago, as misses count time
    keep,   ///< it is not made: the callback is no longer asked
};

struct Policy {
    static constexpr size_t usual_entry_limit = 64;

    size_t entry_limit = usual_entry_limit;
    WhenFull when_full = WhenFull::evict;
    OnMiss on_miss = OnMiss::ask;
    uint64_t warm_up = 0;  ///< frames that run plain before the callback is asked
};

/// Of every code that has none of its own. Process-wide; needs the GIL.
Policy& default_policy() noexcept;

}  // namespace guardtree
