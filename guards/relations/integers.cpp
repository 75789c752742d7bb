// Checks how many values an integer relation takes.
// SPDX-License-Identifier: MIT
#include "integers.h"

namespace guardtree {

std::string Integers::arity_problem(size_t count) const {
    const std::vector<std::string>& names = expression.value->names();
    if (count == names.size()) return {};
    std::string text = text_of(expression) + " speaks of";
    for (const std::string& name : names) text += " " + name;
    return text + ": " + std::to_string(names.size()) + " value(s), " +
           std::to_string(count) + " given";
}

}  // namespace guardtree
