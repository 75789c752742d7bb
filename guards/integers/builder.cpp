// Builds integer expressions.
// SPDX-License-Identifier: MIT
#include "builder.h"

#include <algorithm>

#include "compiler.h"

namespace guardtree {
namespace {

constexpr size_t max_parts = 4096;  // the tree of a sum is as deep as the sum is long
constexpr size_t max_names = 255;
constexpr size_t usual_parts = 8;

IntegerSyntax::Kind kind_of(IntegerOperator operation) {
    using Kind = IntegerSyntax::Kind;
    if (operation <= IntegerOperator::negation) return Kind::logic;
    if (operation <= IntegerOperator::greater_equal) return Kind::compare;
    return operation == IntegerOperator::negative ? Kind::negative : Kind::binary;
}

}  // namespace

IntegerBuilder::IntegerBuilder(IntegerExpression& to) : to_(to) {
    syntax_.reserve(usual_parts);
    to_.pieces_.reserve(usual_parts);
}

void IntegerBuilder::write(std::string_view text) {
    if (to_.pieces_.empty() || to_.pieces_.back().name >= 0) to_.pieces_.push_back({});
    to_.pieces_.back().text += text;
    to_.source_ += text;
}

void IntegerBuilder::write(IntegerOperator operation) {
    if (!is_unary(operation)) write(" ");
    write(text_of(operation).word);
    if (operation != IntegerOperator::negative) write(" ");
}

int IntegerBuilder::name_number(std::string_view name) {
    const auto found = std::ranges::find(to_.names_, name);
    const auto number = static_cast<int>(found - to_.names_.begin());
    if (found == to_.names_.end()) to_.names_.emplace_back(name);
    return number;
}

int IntegerBuilder::add_value(Kind kind, int name, int64_t dimension) {
    IntegerExpression::Piece piece{.text = {}, .name = name};
    if (kind == Kind::length) {
        piece.text = "len(";
        piece.after = ")";
    } else if (kind == Kind::rank) {
        piece.after = ".ndim";
    } else if (kind == Kind::size) {
        piece.after = ".shape[" + std::to_string(dimension) + "]";
    } else if (kind == Kind::stride) {
        piece.text = "stride_of(";
        piece.after = ", " + std::to_string(dimension) + ")";
    }
    to_.source_ += piece.text;
    to_.source_ += to_.names_[static_cast<size_t>(name)];
    to_.source_ += piece.after;
    to_.pieces_.push_back(std::move(piece));
    return add({.kind = kind, .name = name, .constant = dimension});
}

int IntegerBuilder::add_constant(int64_t constant) {
    return add({.constant = constant});
}

int IntegerBuilder::add_operation(IntegerOperator operation, int left, int right) {
    if (right < 0 || (left < 0 && !is_unary(operation))) return -1;
    IntegerSyntax& last = syntax_[static_cast<size_t>(right)];
    if (operation == IntegerOperator::negative && last.kind == Kind::constant &&
        last.constant != INT64_MIN) {
        last.constant = -last.constant;
        return right;
    }
    return add({.kind = kind_of(operation),
                .operation = operation,
                .left = left,
                .right = right});
}

int IntegerBuilder::add(const IntegerSyntax& node) {
    if (syntax_.size() == max_parts) return -1;
    syntax_.push_back(node);
    return static_cast<int>(syntax_.size() - 1);
}

bool IntegerBuilder::finish(int root, std::string& problem) {
    const size_t names = to_.names_.size();
    problem.clear();
    if (root < 0) {
        problem = "it has more than " + std::to_string(max_parts) + " parts";
    } else if (names == 0 || names > max_names) {
        problem = "it has " + std::to_string(names) +
                  " names; a relation takes 1 to 255 values";
    } else if (!IntegerCompiler(syntax_, to_).compile(root)) {
        problem = "it is nested too deeply";
    }
    to_.syntax_ = std::move(syntax_);
    to_.root_ = root;
    return problem.empty();
}

}  // namespace guardtree
