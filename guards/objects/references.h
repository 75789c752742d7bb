// References that keep objects alive for something that does not count them itself.
// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "../../framelocals/ref.h"

namespace guardtree {

/// References that keep the objects of operands alive. The tree or program that holds
/// the operands owns them. Operands themselves are trivially copyable.
using References = std::vector<Owned<>>;

}  // namespace guardtree
