// Where a look-up found its value last time.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>

#include "../../framelocals/compiler.h"

namespace guardtree {

class LastNames;

/// Where a step found its value last time. It is a hint for the next look-up, is stored
/// in the op, is shared by all threads, and never changes a verdict. If other steps
/// look up names in the same object, it also refers to what the walk knows about the
/// object that it read last (last_names.h).
class Remembered {
public:
    explicit Remembered(uint16_t& place) noexcept : place_(&place), last_(nullptr) {}

    Remembered(uint16_t& place, bool is_shared, LastNames& last) noexcept
        : place_(&place), last_(is_shared ? &last : nullptr) {}

    uint16_t place() const noexcept {
        return load_relaxed(*place_);
    }

    /// Stores a place, unless it is too large.
    void remember(size_t place) const noexcept {
        if (place <= UINT16_MAX) {
            store_relaxed(*place_, static_cast<uint16_t>(place));
        }
    }

    /// Null if no other step reads the object.
    LastNames* last() const noexcept { return last_; }

private:
    uint16_t* place_;
    LastNames* last_;
};

}  // namespace guardtree
