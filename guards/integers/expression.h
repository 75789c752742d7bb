// Integer expressions over values: parsed from Python text or built from parts
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

#include "syntax.h"

/// The operations of instructions on the accumulator and an operand.
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

/// Reads an exact int of one digit without a call. Returns false for other values.
inline bool read_integer_at_hand(PyObject* value, int64_t& to) noexcept {
    return PyLong_CheckExact(value) && read_compact_int(value, to);
}

/// A condition on integers: "0 < x <= 64", "a == b * 2", "len(xs) % 8 == 0 or n == 1".
/// It consists of numbers, names, `len(name)`, `name.shape[0]`, `stride_of(name, 0)`,
/// `name.ndim`, + - * // % with Python's meaning, comparisons and chains of them, and,
/// or, not, and parentheses. Immutable once built.
class IntegerExpression {
public:
    /// The names in order of first appearance, which is the order of the values.
    const std::vector<std::string>& names() const noexcept { return names_; }

    /// Whether the condition is true for `values` (one per name, none null). A value
    /// must be an exact int (not a bool), under len() a builtin container, and for a
    /// shape or stride a tensor. Returns false if a value is something else, if a
    /// number does not fit in 64 bits, and on division by zero. No user code, no
    /// allocation. About 1 ns per operation.
    bool holds(std::span<PyObject* const> values) const noexcept {
        const Outcome outcome =
            comparison_.is_it ? compare(values.data()) : Outcome::undefined;
        if (outcome == Outcome::undefined) return holds_by_steps(values.data());
        return outcome == Outcome::holds;
    }

    /// Why the expression has no value for `values`, with their paths: "x is not an
    /// exact int". Empty if it has one.
    std::string why_undefined(PyObject* const* values,
                              std::span<const std::string> paths) const;

    /// The expression in Python, with one path per name. `int64(v)` marks the values
    /// that it reads.
    std::string text(std::span<const std::string> paths) const;

    /// The same without the marks, as users write it.
    std::string plain_text(std::span<const std::string> paths) const;

    /// The expression in Python with its own names and normalised blanks.
    const std::string& source() const noexcept { return source_; }

    /// A condition of several that are joined: for each of its names, in order, the
    /// index of the value in the joined condition.
    struct Part {
        const IntegerExpression* condition;
        std::span<const uint16_t> values;
    };

    /// Makes a condition that is true where all parts are. It evaluates what they have
    /// in common once. It has no text and no names. Returns false if they have nothing
    /// in common, or if it needs a deeper stack than there is.
    static bool join(std::span<const Part> parts, IntegerExpression& to);

    /// Parses `text`. Returns false with a message that says where it is not such an
    /// expression.
    static bool parse(std::string_view text, IntegerExpression& to,
                      std::string& problem);

private:
    friend class IntegerBuilder;
    friend class IntegerCompiler;
    friend class IntegerJoiner;

    enum class Code : uint8_t {
#define X(code) code,
        GUARDTREE_INTEGER_OPERATIONS(X)
#undef X
            skip_if_false,
        skip_if_true,
        keep,  ///< copies the accumulator to a kept result
    };

    /// The source of an instruction's right operand.
    enum class Mode : uint8_t {
        stack,
        constant,
        value,
        length,
        size,
        stride,
        rank,
        kept
    };

    /// The index of a label in run_all: one per pair.
    static constexpr unsigned both(Code code, Mode mode) noexcept {
        return static_cast<unsigned>(code) * 8 + static_cast<unsigned>(mode);
    }

    /// An operation on the accumulator and an operand.
    struct Instruction {
        Instruction(Code code, Mode mode, uint16_t from, int64_t number) noexcept
            : operation(static_cast<uint16_t>(both(code, mode))),
              source(from),
              constant(number) {}

        uint16_t operation;  ///< both(code, mode)
        uint16_t source;     ///< index of a name, or of a kept result
        int64_t constant;    ///< or a dimension, or the number of instructions to skip
    };

    /// A part of the text: literal text, or a name with the text around it: "len(" and
    /// ")".
    struct Piece {
        std::string text;
        int name = -1;
        std::string after = {};

        bool is_length() const noexcept { return text == "len("; }
    };

    static constexpr size_t max_depth = 16;  ///< of the stack below the accumulator
    static constexpr size_t max_kept = 16;   ///< results that are used again

    enum class Outcome : uint8_t { fails, holds, undefined };

    /// The most frequent form: `a * factor + addend` compared with a number or another
    /// value. It is evaluated without a dispatch per instruction.
    struct Comparison {
        bool is_it = false;       ///< the expression has this form
        bool has_second = false;  ///< compared with a second value
        uint8_t accepted = 0;     ///< bits: 1 less, 2 equal, 4 greater
        uint16_t first = 0;       ///< indices of names
        uint16_t second = 0;
        int64_t factor = 1;
        int64_t addend = 0;
        int64_t constant = 0;
    };

    /// Recognises this form. Called when the instructions are complete.
    void recognize_comparison() noexcept;

    /// Compares without a call. Also undefined if a value needs a call to be read.
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

    /// Evaluates instruction by instruction.
    bool holds_by_steps(PyObject* const* values) const noexcept;

    struct Machine;

    /// The instruction that produces no value, or null.
    const Instruction* stopped_at(PyObject* const* values) const noexcept;

    /// Also returns false if an instruction produces no value, and reports that one to
    /// `stop`.
    template <class Stop>
    bool run_all(PyObject* const* values, const Stop& stop) const noexcept;

    Comparison comparison_;
    std::vector<Instruction> instructions_;
    std::vector<std::string> names_;
    std::vector<Piece> pieces_;
    std::string source_;
    std::vector<IntegerSyntax> syntax_;  ///< operands come before their operators
    int root_ = -1;
};

}  // namespace guardtree
