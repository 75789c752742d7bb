// Integer expressions over values: parsed from Python text, evaluated in 64 bits.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace guardtree {

/// A claim about integers: "0 < x <= 64", "a == b * 2", "len(xs) % 8 == 0 or n == 1".
/// Numbers, names, `len(name)`, + - * // % with Python's meaning, comparisons and
/// chains of them, and, or, not, parentheses. Immutable once parsed.
class IntegerExpression {
public:
    /// Names in the order in which they first appear: the order of the values.
    const std::vector<std::string>& names() const noexcept { return names_; }

    /// Whether it is true of `values` (one for each name, none null). A value is an
    /// exact int, not a bool; under len() a builtin container. False too where a value
    /// is something else, where a number does not fit in 64 bits, and on division by
    /// zero. No user code, no allocation; about 1 ns for each operation.
    bool holds(std::span<PyObject* const> values) const noexcept;

    /// The same in Python, over one path for each name. `int64(v)` marks what is read.
    std::string text(std::span<const std::string> paths) const;

    /// As it was written, without superfluous blanks.
    const std::string& source() const noexcept { return source_; }

    /// False with a sentence that says where `text` is not such an expression.
    static bool parse(std::string_view text, IntegerExpression& to,
                      std::string& problem);

private:
    friend class IntegerCompiler;
    friend class IntegerParser;

    enum class Code : uint8_t {
        set,
        push,
        add,
        subtract,
        subtract_from,
        multiply,
        divide,
        divide_into,
        modulo,
        modulo_into,
        equal,
        not_equal,
        less,
        less_equal,
        greater,
        greater_equal,
        negate,
        invert,
        skip_if_false,
        skip_if_true
    };

    /// Where an instruction's right operand comes from.
    enum class Mode : uint8_t { stack, constant, value, length };

    /// The accumulator, an operation, an operand.
    struct Instruction {
        Code code;
        Mode mode;
        uint16_t source;   ///< number of a name
        int64_t constant;  ///< or how many instructions are skipped
    };

    /// A part of the text: as it is, or a name.
    struct Piece {
        std::string text;
        int name = -1;
        bool is_length = false;
    };

    static constexpr size_t most_depth = 16;  ///< of the stack under the accumulator

    static bool operate(Code code, int64_t& accumulator, int64_t operand) noexcept;

    std::vector<Instruction> instructions_;
    std::vector<std::string> names_;
    std::vector<Piece> pieces_;
    std::string source_;
};

}  // namespace guardtree
