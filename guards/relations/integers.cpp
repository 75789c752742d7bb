// Checks how many values an integer relation takes.
// SPDX-License-Identifier: MIT
#include "integers.h"

namespace guardtree {

std::string Integers::arity_problem(size_t count) const {
    const std::vector<std::string>& names = expression.value->names();
    if (count == names.size()) return {};
    std::string text = text_of(expression) + " has the names";
    for (const std::string& name : names) text += " " + name;
    return text + ": it takes " + std::to_string(names.size()) + " value(s), found " +
           std::to_string(count);
}

}  // namespace guardtree
