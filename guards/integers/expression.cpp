// Evaluates integer expressions: an accumulator, a small stack, no backward jumps.
// SPDX-License-Identifier: MIT
#include "expression.h"

#include "../../framelocals/compiler.h"
#include "../objects/builtin_length.h"
#include "../tensors/readers.h"

namespace guardtree {
namespace {

bool read_integer(PyObject* value, int64_t& to) noexcept {
    if (read_integer_at_hand(value, to)) [[likely]]
        return true;
    if (!PyLong_CheckExact(value)) return false;
    int overflow = 0;
    to = PyLong_AsLongLongAndOverflow(value, &overflow);
    return !overflow;
}

bool read_length(PyObject* value, int64_t& to) noexcept {
    to = builtin_length(value);
    return to >= 0;
}

/// Rounds towards minus infinity, as Python does. False if the result is undefined.
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

/// The state of run_all. All of it is inlined there.
struct IntegerExpression::Machine {
    explicit Machine(PyObject* const* all) noexcept : values(all) {}

    PyObject* const* values;
    int64_t accumulator = 0;
    size_t depth = 0;
    int64_t stack[max_depth];
    int64_t kept[max_kept];
    /// Of the tensor whose shape was read last. Most conditions read one.
    TensorShape shape;
    uint16_t shaped = 0;  ///< the index of its name

    const TensorShape& shape_of(const Instruction& at) noexcept {
        if (!shape.sizes || shaped != at.source) {
            if (!read_tensor_shape(values[at.source], shape)) shape = {};
            shaped = at.source;
        }
        return shape;
    }

    bool read_rank(const Instruction& at, int64_t& to) noexcept {
        to = shape_of(at).rank;
        return to != unknown_tensor_rank;
    }

    template <Mode mode>
    [[gnu::always_inline]] bool fetch(const Instruction& at, int64_t& to) noexcept {
        if constexpr (mode == Mode::constant) {
            to = at.constant;
        } else if constexpr (mode == Mode::stack) {
            to = stack[--depth];
        } else if constexpr (mode == Mode::kept) {
            to = kept[at.source];
        } else if constexpr (mode == Mode::value) {
            return read_integer(values[at.source], to);
        } else if constexpr (mode == Mode::length) {
            return read_length(values[at.source], to);
        } else if constexpr (mode == Mode::size) {
            return size_at(shape_of(at), at.constant, to);
        } else if constexpr (mode == Mode::stride) {
            return stride_at(shape_of(at), at.constant, to);
        } else {
            return read_rank(at, to);
        }
        return true;
    }

    template <Code code>
    [[gnu::always_inline]] bool operate(int64_t operand) noexcept {
        const int64_t left = accumulator;
        int64_t& to = accumulator;
        int64_t unused = 0;
        if constexpr (code == Code::push) stack[depth++] = left;
        if constexpr (code == Code::push || code == Code::set) to = operand;
        if constexpr (code == Code::add) return !add_overflows(left, operand, to);
        if constexpr (code == Code::subtract)
            return !subtract_overflows(left, operand, to);
        if constexpr (code == Code::subtract_from)
            return !subtract_overflows(operand, left, to);
        if constexpr (code == Code::multiply)
            return !multiply_overflows(left, operand, to);
        if constexpr (code == Code::divide)
            return divide_floor(left, operand, to, unused);
        if constexpr (code == Code::divide_into)
            return divide_floor(operand, left, to, unused);
        if constexpr (code == Code::modulo)
            return divide_floor(left, operand, unused, to);
        if constexpr (code == Code::modulo_into)
            return divide_floor(operand, left, unused, to);
        if constexpr (code == Code::equal) to = left == operand;
        if constexpr (code == Code::not_equal) to = left != operand;
        if constexpr (code == Code::less) to = left < operand;
        if constexpr (code == Code::less_equal) to = left <= operand;
        if constexpr (code == Code::greater) to = left > operand;
        if constexpr (code == Code::greater_equal) to = left >= operand;
        if constexpr (code == Code::negate) return !subtract_overflows(0, left, to);
        if constexpr (code == Code::invert) to = !left;
        return true;
    }

    template <Code code, Mode mode>
    [[gnu::always_inline]] bool run(const Instruction& at) noexcept {
        int64_t operand = 0;
        return fetch<mode>(at, operand) && operate<code>(operand);
    }
};

template <class Stop>
bool IntegerExpression::run_all(PyObject* const* values,
                                const Stop& stop) const noexcept {
    Machine machine(values);
    const Instruction* const end = instructions_.data() + instructions_.size();
    const Instruction* at = instructions_.data();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"  // addresses of labels
    // Each instruction jumps to the next one itself, as the ops of a walk do (walk.h).
    static const void* const labels[] = {
// clang-format off
#define X(code)                                                            \
    &&code##_stack, &&code##_constant, &&code##_value, &&code##_length,    \
    &&code##_size, &&code##_stride, &&code##_rank, &&code##_kept,
        GUARDTREE_INTEGER_OPERATIONS(X)
#undef X
        // of these with mode `constant`
        nullptr, &&skip_if_false, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
        nullptr, &&skip_if_true, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
        nullptr, &&keep};
#define GUARDTREE_NEXT                         \
    if (++at >= end) goto done;                \
    goto* labels[at->operation]
#define GUARDTREE_MODE(code, mode)                                              \
    code##_##mode : if (!machine.run<Code::code, Mode::mode>(*at)) [[unlikely]] \
        goto stopped;                                                           \
    GUARDTREE_NEXT;
#define X(code)                    \
    GUARDTREE_MODE(code, stack)    \
    GUARDTREE_MODE(code, constant) \
    GUARDTREE_MODE(code, value)    \
    GUARDTREE_MODE(code, length)   \
    GUARDTREE_MODE(code, size)     \
    GUARDTREE_MODE(code, stride)   \
    GUARDTREE_MODE(code, rank)     \
    GUARDTREE_MODE(code, kept)
    goto* labels[at->operation];
    GUARDTREE_INTEGER_OPERATIONS(X)
#undef X
#undef GUARDTREE_MODE
    // clang-format on
skip_if_false:
    if (!machine.accumulator) at += at->constant;
    GUARDTREE_NEXT;
skip_if_true:
    if (machine.accumulator) at += at->constant;
    GUARDTREE_NEXT;
keep:
    machine.kept[at->source] = machine.accumulator;
    GUARDTREE_NEXT;
#undef GUARDTREE_NEXT
#pragma GCC diagnostic pop
stopped:
    stop(at);
    return false;
done:
    return machine.accumulator != 0;
}

bool IntegerExpression::holds_by_steps(PyObject* const* values) const noexcept {
    return run_all(values, [](const Instruction*) {});
}

[[gnu::cold]] const IntegerExpression::Instruction* IntegerExpression::stopped_at(
    PyObject* const* values) const noexcept {
    const Instruction* stopped = nullptr;
    run_all(values, [&](const Instruction* at) { stopped = at; });
    return stopped;
}

std::string IntegerExpression::why_undefined(PyObject* const* values,
                                             std::span<const std::string> paths) const {
    const Instruction* stopped = stopped_at(values);
    if (!stopped) return {};
    const size_t source = stopped->source;
    const std::string path = source < paths.size() ? paths[source] : "";
    const auto mode = static_cast<Mode>(stopped->operation % 8);
    switch (mode) {
    case Mode::value: {
        int64_t unused = 0;
        if (read_integer(values[stopped->source], unused)) break;
        if (PyLong_CheckExact(values[stopped->source]))
            return path + " does not fit in 64 bits";
        return path + " is not exactly an int";
    }
    case Mode::length: {
        int64_t unused = 0;
        if (read_length(values[stopped->source], unused)) break;
        return path + " is not a builtin container";
    }
    case Mode::size:
    case Mode::stride: {
        int64_t unused = 0;
        const auto read = mode == Mode::size ? read_tensor_size : read_tensor_stride;
        if (read(values[stopped->source], stopped->constant, unused)) break;
        return path + " is not a tensor that has this dimension";
    }
    case Mode::rank: {
        TensorShape shape;
        const bool is_tensor = read_tensor_shape(values[stopped->source], shape);
        if (is_tensor && shape.rank != unknown_tensor_rank) break;
        return path + " is not a tensor" + (is_tensor ? " that tells its rank" : "");
    }
    default: break;
    }
    return "it divides by zero, or a number does not fit in 64 bits";
}

void IntegerExpression::recognize_comparison() noexcept {
    Comparison made;
    size_t i = 0;
    const auto next = [&](Code code, Mode mode) {
        return i < instructions_.size() &&
               instructions_[i].operation == both(code, mode);
    };
    if (!next(Code::set, Mode::value)) return;
    made.first = instructions_[i++].source;
    if (next(Code::multiply, Mode::constant)) made.factor = instructions_[i++].constant;
    if (next(Code::add, Mode::constant)) made.addend = instructions_[i++].constant;
    constexpr uint8_t less = 1, equal = 2, greater = 4;

    constexpr struct {
        Code code;
        uint8_t accepted;
    } codes[] = {{Code::equal, equal},     {Code::not_equal, less | greater},
                 {Code::less, less},       {Code::less_equal, less | equal},
                 {Code::greater, greater}, {Code::greater_equal, equal | greater}};

    if (i + 1 != instructions_.size()) return;
    const Instruction& last = instructions_[i];
    for (const auto& [code, accepted] : codes) {
        if (next(code, Mode::value) || next(code, Mode::constant)) {
            made.is_it = true;
            made.accepted = accepted;
            made.has_second = next(code, Mode::value);
        }
    }
    made.second = last.source;
    made.constant = last.constant;
    comparison_ = made;
}

std::string IntegerExpression::text(std::span<const std::string> paths) const {
    std::string text;
    for (const Piece& piece : pieces_) {
        if (piece.name < 0) {
            text += piece.text;
        } else {
            const std::string& path = paths[static_cast<size_t>(piece.name)];
            if (piece.after.empty())
                text += "int64(" + path + ")";
            else if (piece.text.empty())
                text += "int64(tensor(" + path + ")" + piece.after + ")";
            else if (piece.is_length())
                text += "int64(builtin_len(" + path + "))";
            else
                text += "int64(" + piece.text + path + piece.after + ")";
        }
    }
    return text;
}

std::string IntegerExpression::plain_text(std::span<const std::string> paths) const {
    std::string text;
    for (const Piece& piece : pieces_) {
        text += piece.text;
        if (piece.name < 0) continue;
        text += paths[static_cast<size_t>(piece.name)] + piece.after;
    }
    return text;
}

}  // namespace guardtree
