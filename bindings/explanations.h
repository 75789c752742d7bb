// Explanation and Failure as Python types.
// SPDX-License-Identifier: MIT
#pragma once
#include "../guards/run/explain.h"

#include "boxed.h"

GUARDTREE_BOXED(guardtree::Explanation, "Explanation")
GUARDTREE_BOXED(guardtree::Failure, "Failure")
