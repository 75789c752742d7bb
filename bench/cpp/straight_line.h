// The checks of the slope benchmarks as straight-line C++: what a compiler of machine
// code could at best make of them.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <vector>

#include "../../framelocals/views/view.h"
#include "../../guards/objects/constant_compare.h"
#include "../../guards/objects/dict_lookup.h"

namespace guardtree::bench {

/// What one program's checks compare with: entry `i` belongs to guard `i`, as a
/// program's operands do.
struct HandConstants {
    std::vector<HashedKey> keys;         ///< borrowed
    std::vector<uint16_t> places;  ///< that dict look-ups remember
};

/// True when all guards of a shape pass on a frame's slots.
using ByHand = bool (*)(const SlotWord* slots, HandConstants& constants);

/// Guard number `i` of `count` by hand, for each shape that has one.
enum class HandShape { none, local_type, list_item_type, list_block, mixed };

/// The unrolled checks of a shape, for 8 or 32 guards; null when it has none.
ByHand straight_line(HandShape shape, int count);

}  // namespace guardtree::bench
