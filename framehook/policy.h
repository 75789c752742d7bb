// Settings for misses, warm-up and the number of entries.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>

namespace guardtree {

/// What happens to a frame for which no entry passes.
enum class OnMiss : uint8_t {
    ask,    ///< call the callback
    plain,  ///< run the frame as written
    raise,  ///< raise GuardMiss if the code has entries, otherwise call the callback
};

/// What happens to a new entry when the limit is reached.
enum class WhenFull : uint8_t {
    evict,  ///< it replaces the least recently used entry
    keep,   ///< it is not created; the callback is no longer called
};

struct Policy {
    static constexpr size_t usual_entry_limit = 64;

    size_t entry_limit = usual_entry_limit;
    WhenFull when_full = WhenFull::evict;
    OnMiss on_miss = OnMiss::ask;
    /// number of misses that run as written before the callback is called
    uint64_t warm_up = 0;
};

/// The policy of every code object that has none of its own. Process-wide; needs the
/// GIL.
Policy& default_policy() noexcept;

}  // namespace guardtree
