// Assigns places to the values of a walk and reuses them. Internal.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace guardtree {

/// Reuses the places of values that no op needs any more. The place that has been free
/// for the longest time is reused first.
class Places {
public:
    explicit Places(size_t first) : end_(first) {}

    /// The place for the value of op `i`, which op `last_read` is the last to read.
    uint16_t take(size_t i, size_t last_read, bool may_share) {
        size_t place = end_;
        if (may_share && !taken_.empty() && taken_.top().first < i) {
            place = taken_.top().second;
            taken_.pop();
        } else {
            ++end_;
        }
        taken_.push({last_read, place});
        return static_cast<uint16_t>(place);
    }

    /// A place that no other value gets.
    uint16_t take_for_good() { return static_cast<uint16_t>(end_++); }

    size_t end() const noexcept { return end_; }

private:
    using Taken = std::pair<size_t, size_t>;  ///< last reader, place
    size_t end_;
    std::priority_queue<Taken, std::vector<Taken>, std::greater<>> taken_;
};

}  // namespace guardtree
