// Generates the instructions of integer expressions. An operand that is a name or a
// number is part of the instruction. The stack holds only values that fit in neither
// that nor the accumulator.
// SPDX-License-Identifier: MIT
#include "compiler.h"

#include <algorithm>
#include <array>
#include <utility>

namespace guardtree {

void IntegerCompiler::emit(Code code, Mode mode, uint16_t source, int64_t constant) {
    to_.instructions_.emplace_back(code, mode, source, constant);
}

void IntegerCompiler::emit_with_leaf(Code code, const IntegerSyntax& leaf) {
    using Kind = IntegerSyntax::Kind;
    Mode mode = Mode::constant;
    if (leaf.kind == Kind::name) mode = Mode::value;
    if (leaf.kind == Kind::length) mode = Mode::length;
    if (leaf.kind == Kind::size) mode = Mode::size;
    if (leaf.kind == Kind::rank) mode = Mode::rank;
    const int source = mode == Mode::constant ? 0 : leaf.name;
    emit(code, mode, static_cast<uint16_t>(source), leaf.constant);
}

void IntegerCompiler::number(int index, bool keeps_accumulator) {
    const IntegerSyntax& node = at(index);
    if (node.is_leaf()) {
        emit_with_leaf(keeps_accumulator ? Code::push : Code::set, node);
        if (keeps_accumulator) deepest_ = std::max(deepest_, ++depth_);
    } else if (node.kind == IntegerSyntax::Kind::negative) {
        number(node.right, keeps_accumulator);
        emit(Code::negate, Mode::constant, 0, 0);
    } else {
        operation(node, keeps_accumulator);
    }
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
    if (at(node.right).is_leaf()) {
        number(node.left, keeps_accumulator);
        emit_with_leaf(straight, at(node.right));
    } else if (at(node.left).is_leaf()) {
        number(node.right, keeps_accumulator);
        emit_with_leaf(swapped, at(node.left));
    } else {
        number(node.left, keeps_accumulator);
        number(node.right, true);
        emit(swapped, Mode::stack, 0, 0);
        --depth_;
    }
}

void IntegerCompiler::logic(const IntegerSyntax& node) {
    if (node.operation == IntegerOperator::negation) {
        claim(node.right);
        emit(Code::invert, Mode::constant, 0, 0);
        return;
    }
    claim(node.left);
    const Code skip = node.operation == IntegerOperator::conjunction
                          ? Code::skip_if_false
                          : Code::skip_if_true;
    const size_t place = to_.instructions_.size();
    emit(skip, Mode::constant, 0, 0);
    claim(node.right);
    to_.instructions_[place].constant =
        static_cast<int64_t>(to_.instructions_.size() - place - 1);
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

}  // namespace guardtree
