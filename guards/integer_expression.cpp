// Evaluating integer expressions: an accumulator, a small stack, no jumps backwards.
// SPDX-License-Identifier: MIT
#include "integer_expression.h"

#include "../framelocals/cpython/compact_int.h"

#include "builtin_length.h"

namespace guardtree {
namespace {

bool read_integer(PyObject* value, int64_t& to) noexcept {
    if (!PyLong_CheckExact(value)) return false;
    if (read_compact_int(value, to)) [[likely]]
        return true;
    int overflow = 0;
    to = PyLong_AsLongLongAndOverflow(value, &overflow);
    return !overflow;
}

bool read_length(PyObject* value, int64_t& to) noexcept {
    to = builtin_length(value);
    return to >= 0;
}

/// Rounds towards minus infinity, as Python does; false where it is not defined.
bool divide_floor(int64_t a, int64_t b, int64_t& quotient, int64_t& rest) noexcept {
    if (b == 0 || (b == -1 && a == INT64_MIN)) return false;
    quotient = a / b;
    rest = a % b;
    if (rest != 0 && (rest < 0) != (b < 0)) {
        rest += b;
        --quotient;
    }
    return true;
}

}  // namespace

bool IntegerExpression::operate(Code code, int64_t& accumulator,
                                int64_t operand) noexcept {
    int64_t unused = 0;
    switch (code) {
    case Code::set: accumulator = operand; return true;
    case Code::add: return !__builtin_add_overflow(accumulator, operand, &accumulator);
    case Code::subtract:
        return !__builtin_sub_overflow(accumulator, operand, &accumulator);
    case Code::subtract_from:
        return !__builtin_sub_overflow(operand, accumulator, &accumulator);
    case Code::multiply:
        return !__builtin_mul_overflow(accumulator, operand, &accumulator);
    case Code::divide: return divide_floor(accumulator, operand, accumulator, unused);
    case Code::divide_into:
        return divide_floor(operand, accumulator, accumulator, unused);
    case Code::modulo: return divide_floor(accumulator, operand, unused, accumulator);
    case Code::modulo_into:
        return divide_floor(operand, accumulator, unused, accumulator);
    case Code::equal: accumulator = accumulator == operand; return true;
    case Code::not_equal: accumulator = accumulator != operand; return true;
    case Code::less: accumulator = accumulator < operand; return true;
    case Code::less_equal: accumulator = accumulator <= operand; return true;
    case Code::greater: accumulator = accumulator > operand; return true;
    case Code::greater_equal: accumulator = accumulator >= operand; return true;
    case Code::negate: return !__builtin_sub_overflow(0, accumulator, &accumulator);
    case Code::invert: accumulator = !accumulator; return true;
    case Code::push:
    case Code::skip_if_false:
    case Code::skip_if_true: break;
    }
    __builtin_unreachable();
}

bool IntegerExpression::holds(std::span<PyObject* const> values) const noexcept {
    int64_t stack[most_depth];
    size_t depth = 0;
    int64_t accumulator = 0;
    const Instruction* const end = instructions_.data() + instructions_.size();
    for (const Instruction* at = instructions_.data(); at != end; ++at) {
        if (at->code == Code::skip_if_false || at->code == Code::skip_if_true) {
            if ((accumulator != 0) == (at->code == Code::skip_if_true)) {
                at += at->constant;
            }
            continue;
        }
        int64_t operand = 0;
        switch (at->mode) {
        case Mode::constant: operand = at->constant; break;
        case Mode::value:
            if (!read_integer(values[at->source], operand)) return false;
            break;
        case Mode::length:
            if (!read_length(values[at->source], operand)) return false;
            break;
        case Mode::stack: operand = stack[--depth]; break;
        }
        if (at->code == Code::push) {
            stack[depth++] = accumulator;
            accumulator = operand;
        } else if (!operate(at->code, accumulator, operand)) {
            return false;
        }
    }
    return accumulator != 0;
}

std::string IntegerExpression::text(std::span<const std::string> paths) const {
    std::string text;
    for (const Piece& piece : pieces_) {
        if (piece.name < 0) {
            text += piece.text;
        } else {
            const std::string& path = paths[static_cast<size_t>(piece.name)];
            text += piece.is_length ? "int64(builtin_len(" + path + "))"
                                    : "int64(" + path + ")";
        }
    }
    return text;
}

}  // namespace guardtree
