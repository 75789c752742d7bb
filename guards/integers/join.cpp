// Joins integer expressions, so that what they have in common is evaluated once.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <tuple>

#include "compiler.h"

namespace guardtree {

/// Builds one syntax tree of several, in which equal parts are one node.
class IntegerJoiner {
public:
    explicit IntegerJoiner(IntegerExpression& to) : to_(to) {}

    void add(const IntegerExpression::Part& part) {
        std::vector<int> number;  // of each node of the part
        for (IntegerSyntax node : part.condition->syntax_) {
            if (node.name >= 0) node.name = part.values[static_cast<size_t>(node.name)];
            if (node.left >= 0) node.left = number[static_cast<size_t>(node.left)];
            if (node.right >= 0) node.right = number[static_cast<size_t>(node.right)];
            number.push_back(number_of(node));
        }
        const int root = number[static_cast<size_t>(part.condition->root_)];
        if (std::ranges::find(roots_, root) == roots_.end()) roots_.push_back(root);
    }

    /// Whether something other than a number or an int is used twice.
    bool has_common_parts() const {
        for (size_t i = 0; i < uses_.size(); ++i) {
            if (uses_[i] > 1 && !to_.syntax_[i].is_free()) return true;
        }
        return false;
    }

    bool finish() {
        IntegerCompiler compiler(to_.syntax_, to_);
        return compiler.compile_all(roots_, std::move(uses_));
    }

private:
    int number_of(const IntegerSyntax& node) {
        const auto next = static_cast<int>(to_.syntax_.size());
        const auto [found, is_new] =
            numbers_.insert({{node.kind, node.operation, node.name, node.constant,
                              node.left, node.right},
                             next});
        if (!is_new) return found->second;
        to_.syntax_.push_back(node);
        uses_.push_back(0);
        if (node.left >= 0) ++uses_[static_cast<size_t>(node.left)];
        if (node.right >= 0) ++uses_[static_cast<size_t>(node.right)];
        return next;
    }

    using Key =
        std::tuple<IntegerSyntax::Kind, IntegerOperator, int, int64_t, int, int>;

    IntegerExpression& to_;
    std::vector<int> roots_;
    std::vector<int> uses_;  ///< by number
    std::map<Key, int> numbers_;
};

bool IntegerExpression::join(std::span<const Part> parts, IntegerExpression& to) {
    IntegerExpression made;
    IntegerJoiner joiner(made);
    for (const Part& part : parts) joiner.add(part);
    if (!joiner.has_common_parts() || !joiner.finish()) return false;
    to = std::move(made);
    return true;
}

}  // namespace guardtree
