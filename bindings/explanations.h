// Explanation and Failure as Python types.
// SPDX-License-Identifier: MIT
#pragma once
#include "../guards/run/explain.h"

#include "boxed.h"
#include "guard_manager.h"

GUARDTREE_BOXED(guardtree::Explanation, "Explanation")
GUARDTREE_BOXED(guardtree::Failure, "Failure")

namespace guardtree {

/// Lets the failures name nodes of `guards`, if that is a GuardManager.
inline void tell_nodes_of(PyObject* guards, Explanation& to) {
    if (!guards || !GuardManager::is_instance(guards)) return;
    for (Failure& each : to.failures) each.guards = Owned<>::share(guards);
}

}  // namespace guardtree
