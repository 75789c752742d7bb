// Integer expressions over values: parsed from Python text or put together
// (builder.h), evaluated in 64 bits.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../framelocals/compiler.h"
#include "../../framelocals/cpython/compact_int.h"

/// What an instruction does with the accumulator and its operand.
// clang-format off: one to a line
#define GUARDTREE_INTEGER_OPERATIONS(X) \
    X(set)                              \
    X(push)                             \
    X(add)                              \
    X(subtract)                         \
    X(subtract_from)                    \
    X(multiply)                         \
    X(divide)                           \
    X(divide_into)                      \
    X(modulo)                           \
    X(modulo_into)                      \
    X(equal)                            \
    X(not_equal)                        \
    X(less)                             \
    X(less_equal)                       \
    X(greater)                          \
    X(greater_equal)                    \
    X(negate)                           \
    X(invert)

// clang-format on

namespace guardtree {

/// An exact int of one digit, which is read without a call; false for all else.
inline bool read_integer_at_hand(PyObject* value, int64_t& to) noexcept {
    return PyLong_CheckExact(value) && read_compact_int(value, to);
}

/// A claim about integers: "0 < x <= 64", "a == b * 2", "len(xs) % 8 == 0 or n == 1".
/// Numbers, names, `len(name)`, `name.shape[0]`, `name.ndim`, + - * // % with Python's
/// meaning, comparisons and chains of them, and, or, not, parentheses. Immutable once
/// made.
class IntegerExpression {
public:
    /// Names in the order in which they first appear: the order of the values.
    const std::vector<std::string>& names() const noexcept { return names_; }

    /// Whether it is true of `values` (one for each name, none null). A value is an
    /// exact int, not a bool; under len() a builtin container; of a shape a tensor.
    /// False too where a value is something else, where a number does not fit in 64
    /// bits, and on division by zero. No user code, no allocation; about 1 ns for each
    /// operation.
    bool holds(std::span<PyObject* const> values) const noexcept {
        const Outcome outcome =
            comparison_.is_it ? compare(values.data()) : Outcome::undefined;
        if (outcome == Outcome::undefined) return holds_by_steps(values.data());
        return outcome == Outcome::holds;
    }

    /// Why it has no value, by the paths of `values`: "x is not an exact int". Empty
    /// where it has one.
    std::string why_undefined(PyObject* const* values,
                              std::span<const std::string> paths) const;

    /// The same in Python, over one path for each name. `int64(v)` marks what is read.
    std::string text(std::span<const std::string> paths) const;

    /// The same as it may be written, without the marks.
    std::string plain_text(std::span<const std::string> paths) const;

    /// In Python over its names, without superfluous blanks.
    const std::string& source() const noexcept { return source_; }

    /// False with a sentence that says where `text` is not such an expression.
    static bool parse(std::string_view text, IntegerExpression& to,
                      std::string& problem);

private:
    friend class IntegerBuilder;
    friend class IntegerCompiler;

    enum class Code : uint8_t {
#define X(code) code,
        GUARDTREE_INTEGER_OPERATIONS(X)
#undef X
            skip_if_false,
        skip_if_true,
    };

    /// Where an instruction's right operand comes from.
    enum class Mode : uint8_t { stack, constant, value, length, size, rank };

    /// What is switched on: one case for each pair.
    static constexpr unsigned both(Code code, Mode mode) noexcept {
        return static_cast<unsigned>(code) * 8 + static_cast<unsigned>(mode);
    }

    /// The accumulator, an operation, an operand.
    struct Instruction {
        Instruction(Code code, Mode mode, uint16_t from, int64_t number) noexcept
            : operation(static_cast<uint16_t>(both(code, mode))),
              source(from),
              constant(number) {}

        uint16_t operation;  ///< both(code, mode)
        uint16_t source;     ///< number of a name
        int64_t constant;    ///< or a dimension, or how many instructions are skipped
    };

    /// A part of the text: as it is, or a name with what is around it: "len(" and ")".
    struct Piece {
        std::string text;
        int name = -1;
        std::string after = {};
    };

    static constexpr size_t most_depth = 16;  ///< of the stack under the accumulator

    enum class Outcome : uint8_t { fails, holds, undefined };

    /// The most frequent shape, `a * factor + addend` compared with a number or another
    /// value, without a dispatch for each instruction.
    struct Comparison {
        bool is_it = false;       ///< the expression has this shape
        bool has_second = false;  ///< compared with a value
        uint8_t accepted = 0;     ///< bits: 1 less, 2 equal, 4 greater
        uint16_t first = 0;       ///< numbers of names
        uint16_t second = 0;
        int64_t factor = 1;
        int64_t addend = 0;
        int64_t constant = 0;
    };

    /// Finds the shape; called when the instructions are complete.
    void recognize_comparison() noexcept;

    /// Without a call: undefined also where one would be needed.
    Outcome compare(PyObject* const* values) const noexcept {
        int64_t left = 0;
        int64_t right = comparison_.constant;
        if (!read_integer_at_hand(values[comparison_.first], left) ||
            multiply_overflows(left, comparison_.factor, left) ||
            add_overflows(left, comparison_.addend, left) ||
            (comparison_.has_second &&
             !read_integer_at_hand(values[comparison_.second], right))) {
            return Outcome::undefined;
        }
        const unsigned order = left < right ? 1 : left == right ? 2 : 4;
        return comparison_.accepted & order ? Outcome::holds : Outcome::fails;
    }

    /// Instruction by instruction.
    bool holds_by_steps(PyObject* const* values) const noexcept;

    struct Machine;

    /// The instruction that has no value, or null.
    const Instruction* stopped_at(PyObject* const* values) const noexcept;

    /// False also where an instruction has no value, which is told to `stop`.
    template <class Stop>
    bool run_all(Machine& machine, const Stop& stop) const noexcept;

    Comparison comparison_;
    std::vector<Instruction> instructions_;
    std::vector<std::string> names_;
    std::vector<Piece> pieces_;
    std::string source_;
};

}  // namespace guardtree
