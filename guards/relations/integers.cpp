// Checks how many values an integer relation takes, and joins such relations.
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

bool Integers::join_relations(std::span<const JoinedPart<Integers>> parts, Integers& to,
                              References& keep) {
    std::vector<IntegerExpression::Part> conditions;
    for (const JoinedPart<Integers>& part : parts)
        conditions.push_back({part.relation.expression.value, part.values});
    auto made = std::make_unique<IntegerExpression>();
    Diagnostic problem;
    return IntegerExpression::join(conditions, *made) &&
           IntegerText::hold(std::move(made), to.expression, keep, problem);
}

}  // namespace guardtree
