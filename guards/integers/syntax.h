// The syntax tree of an integer expression.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

namespace guardtree {

enum class IntegerOperator : uint8_t {
    disjunction,
    conjunction,
    negation,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    add,
    subtract,
    multiply,
    floor_divide,
    modulo,
    negative,
};

/// A node of the syntax tree; `left` and `right` are indices, -1 for none.
struct IntegerSyntax {
    enum class Kind : uint8_t {
        constant,
        name,
        length,
        size,
        stride,
        rank,
        binary,
        compare,
        negative,
        logic
    };

    Kind kind = Kind::constant;
    IntegerOperator operation = {};  ///< unused in leaves
    int name = -1;
    int64_t constant = 0;  ///< for kinds size and stride: the dimension
    int left = -1;
    int right = -1;

    bool is_leaf() const noexcept { return kind <= Kind::rank; }

    /// Whether it costs nothing to read it again: a number, or a value that is an int.
    bool is_free() const noexcept { return kind <= Kind::name; }

    bool is_claim() const noexcept {
        return kind == Kind::compare || kind == Kind::logic;
    }
};

}  // namespace guardtree
