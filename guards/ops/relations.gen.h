// Every file of guards/relations/, derived by guards/derive.cmake. Do not edit.
// SPDX-License-Identifier: MIT
#pragma once

#include "../relations/distinct_objects.h"
#include "../relations/integers.h"
#include "../relations/overlapping_memory.h"
#include "../relations/same_object.h"

// clang-format off
#define GUARDTREE_RELATIONS(X) \
    X(DistinctObjects, distinct_objects) \
    X(Integers, integers) \
    X(OverlappingMemory, overlapping_memory) \
    X(SameObject, same_object)

namespace guardtree {
using AllRelations = TypeList<DistinctObjects, Integers, OverlappingMemory, SameObject>;
}
