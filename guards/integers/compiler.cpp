// Generates the instructions of integer expressions. An operand that is a name or a
// number is part of the instruction. The stack holds only values that fit in neither
// that nor the accumulator.
// SPDX-License-Identifier: MIT
#include "compiler.h"

#include <algorithm>
#include <array>
#include <utility>

namespace guardtree {

void IntegerCompiler::emit(Code code, Mode mode, int source, int64_t constant) {
    to_.instructions_.emplace_back(code, mode, static_cast<uint16_t>(source), constant);
}

/// Whether to keep a result for its other uses. Reading a leaf twice costs less.
bool IntegerCompiler::should_keep(int index) const {
    const int few = at(index).is_leaf() ? 2 : 1;
    return !uses_.empty() && uses_[static_cast<size_t>(index)] > few &&
           kept(index) < 0 && !at(index).is_free() && skippable_ == 0 &&
           kept_count_ < static_cast<int>(IntegerExpression::max_kept);
}

/// Whether a node can be the operand of an instruction.
bool IntegerCompiler::is_at_hand(int index) const {
    return kept(index) >= 0 || (at(index).is_leaf() && !should_keep(index));
}

/// Emits an instruction with a leaf or a kept result as its operand.
void IntegerCompiler::emit_with(Code code, int operand) {
    using Kind = IntegerSyntax::Kind;
    if (kept(operand) >= 0) return emit(code, Mode::kept, kept(operand));
    const IntegerSyntax& leaf = at(operand);
    Mode mode = Mode::constant;
    if (leaf.kind == Kind::name) mode = Mode::value;
    if (leaf.kind == Kind::length) mode = Mode::length;
    if (leaf.kind == Kind::size) mode = Mode::size;
    if (leaf.kind == Kind::stride) mode = Mode::stride;
    if (leaf.kind == Kind::rank) mode = Mode::rank;
    emit(code, mode, mode == Mode::constant ? 0 : leaf.name, leaf.constant);
}

void IntegerCompiler::number(int index, bool keeps_accumulator) {
    const IntegerSyntax& node = at(index);
    if (kept(index) >= 0 || node.is_leaf()) {
        emit_with(keeps_accumulator ? Code::push : Code::set, index);
        if (keeps_accumulator) deepest_ = std::max(deepest_, ++depth_);
    } else if (node.kind == IntegerSyntax::Kind::negative) {
        number(node.right, keeps_accumulator);
        emit(Code::negate, Mode::constant);
    } else {
        operation(node, keeps_accumulator);
    }
    if (!should_keep(index)) return;
    emit(Code::keep, Mode::constant, kept_count_);
    kept_[static_cast<size_t>(index)] = kept_count_++;
}

void IntegerCompiler::operation(const IntegerSyntax& node, bool keeps_accumulator) {
    // The codes for `accumulator op operand` and `operand op accumulator`, from equal
    // to modulo.
    static constexpr std::array<std::pair<Code, Code>, 11> codes{{
        {Code::equal, Code::equal},
        {Code::not_equal, Code::not_equal},
        {Code::less, Code::greater},
        {Code::less_equal, Code::greater_equal},
        {Code::greater, Code::less},
        {Code::greater_equal, Code::less_equal},
        {Code::add, Code::add},
        {Code::subtract, Code::subtract_from},
        {Code::multiply, Code::multiply},
        {Code::divide, Code::divide_into},
        {Code::modulo, Code::modulo_into},
    }};
    const auto [straight, swapped] = codes[static_cast<size_t>(node.operation) -
                                           static_cast<size_t>(IntegerOperator::equal)];
    if (is_at_hand(node.left) && !is_at_hand(node.right)) {
        number(node.right, keeps_accumulator);
        emit_with(swapped, node.left);
        return;
    }
    number(node.left, keeps_accumulator);
    if (is_at_hand(node.right)) {
        emit_with(straight, node.right);
    } else {
        number(node.right, true);
        emit(swapped, Mode::stack);
        --depth_;
    }
}

void IntegerCompiler::skip_from(size_t place) {
    to_.instructions_[place].constant =
        static_cast<int64_t>(to_.instructions_.size() - place - 1);
}

void IntegerCompiler::logic(const IntegerSyntax& node) {
    if (node.operation == IntegerOperator::negation) {
        claim(node.right);
        emit(Code::invert, Mode::constant);
        return;
    }
    claim(node.left);
    const Code skip = node.operation == IntegerOperator::conjunction
                          ? Code::skip_if_false
                          : Code::skip_if_true;
    const size_t place = to_.instructions_.size();
    emit(skip, Mode::constant);
    ++skippable_;
    claim(node.right);
    --skippable_;
    skip_from(place);
}

void IntegerCompiler::claim(int index) {
    const IntegerSyntax& node = at(index);
    if (node.kind == IntegerSyntax::Kind::logic) {
        logic(node);
    } else {
        operation(node, false);
    }
}

bool IntegerCompiler::compile(int root) {
    claim(root);
    to_.recognize_comparison();
    return deepest_ <= IntegerExpression::max_depth;
}

bool IntegerCompiler::compile_all(std::span<const int> roots, std::vector<int> uses) {
    uses_ = std::move(uses);
    std::vector<size_t> exits;
    for (size_t i = 0; i < roots.size(); ++i) {
        if (i > 0) {
            exits.push_back(to_.instructions_.size());
            emit(Code::skip_if_false, Mode::constant);
        }
        claim(roots[i]);
    }
    for (const size_t exit : exits) skip_from(exit);
    return deepest_ <= IntegerExpression::max_depth;
}

}  // namespace guardtree
