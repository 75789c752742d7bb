// Where a look-up found its value last.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>

#include "../../framelocals/compiler.h"

namespace guardtree {

class LastNames;

/// Where a step found its value last: a guess that the next look-up begins with. It is
/// kept in the op, shared by all threads, and never decides an answer. With it comes
/// what the walk knows of the object that it read last (last_names.h), where others
/// read the same one for their names.
class Remembered {
public:
    explicit Remembered(uint16_t& place) noexcept : place_(&place), last_(nullptr) {}

    Remembered(uint16_t& place, bool is_shared, LastNames& last) noexcept
        : place_(&place), last_(is_shared ? &last : nullptr) {}

    uint16_t place() const noexcept {
        return load_relaxed(*place_);
    }

    /// Places that do not fit are not remembered.
    void remember(size_t place) const noexcept {
        if (place <= UINT16_MAX) {
            store_relaxed(*place_, static_cast<uint16_t>(place));
        }
    }

    /// Null: nobody else reads the object.
    LastNames* last() const noexcept { return last_; }

private:
    uint16_t* place_;
    LastNames* last_;
};

}  // namespace guardtree
