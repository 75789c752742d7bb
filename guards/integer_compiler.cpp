// Instructions of integer expressions. An operand that is a name or a number is part of
// the instruction; the stack holds what neither the accumulator nor that can.
// SPDX-License-Identifier: MIT
#include "integer_compiler.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace guardtree {
namespace {

struct Operator {
    std::string_view word;
    uint8_t code;     ///< accumulator op operand
    uint8_t swapped;  ///< operand op accumulator
};

}  // namespace

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
    } else if (node.kind == IntegerSyntax::Kind::unary) {
        number(node.left, keeps_accumulator);
        emit(Code::negate, Mode::constant, 0, 0);
    } else {
        operation(node, keeps_accumulator);
    }
}

void IntegerCompiler::operation(const IntegerSyntax& node, bool keeps_accumulator) {
    const auto code = [](Code each) { return static_cast<uint8_t>(each); };
    const std::array<Operator, 11> operators{{
        {"+", code(Code::add), code(Code::add)},
        {"-", code(Code::subtract), code(Code::subtract_from)},
        {"*", code(Code::multiply), code(Code::multiply)},
        {"//", code(Code::divide), code(Code::divide_into)},
        {"%", code(Code::modulo), code(Code::modulo_into)},
        {"==", code(Code::equal), code(Code::equal)},
        {"!=", code(Code::not_equal), code(Code::not_equal)},
        {"<", code(Code::less), code(Code::greater)},
        {"<=", code(Code::less_equal), code(Code::greater_equal)},
        {">", code(Code::greater), code(Code::less)},
        {">=", code(Code::greater_equal), code(Code::less_equal)},
    }};
    const auto found = std::ranges::find(operators, node.word, &Operator::word);
    const auto straight = static_cast<Code>(found->code);
    const auto swapped = static_cast<Code>(found->swapped);
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
    claim(node.left);
    if (node.word == "not") {
        emit(Code::invert, Mode::constant, 0, 0);
        return;
    }
    const Code skip = node.word == "and" ? Code::skip_if_false : Code::skip_if_true;
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
    return deepest_ <= IntegerExpression::most_depth;
}

}  // namespace guardtree
