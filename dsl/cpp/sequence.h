// The parts of a DSL expression: instructions and literals, in order. They are plain
// values, so they can be constexpr.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "../../guards/integers/builder.h"
#include "../../guards/ops/named_op.h"
#include "../../guards/tree/tree.h"

namespace guardtree::dsl {

/// The next action of build. Relations and operators come before their operands.
enum class Action : uint8_t {
    root,
    step,
    kind,
    relation,
    integers,  ///< an integer condition follows
    value,     ///< a path follows
    length,
    size,
    stride,
    rank,
    number,
    operation,
};

struct Instruction {
    Action action{};
    uint8_t operands = 0;  ///< number of literals; each includes its elements
    uint16_t count = 0;    ///< relation: number of values; path: number of steps
    OpCode code{};
    IntegerOperator operation{};
    OpMaker* make = nullptr;  ///< makes an op of `code`
};

/// A placeholder for the object at this position of build's arguments.
struct Later {
    size_t position;
};

enum class Form : uint8_t { tuple, set, dict, kind };

/// The head of several literals that form one operand. A dict counts its keys and its
/// values. A kind, as an operand of not_ and any_of, is its name and its operands.
struct Items {
    Form form;
    OpCode kind;
    size_t count;
};

/// An operand, or a part of one. Strings and objects are borrowed until build.
using Literal = std::variant<std::nullptr_t, bool, int64_t, uint64_t, double,
                             std::string_view, PyObject*, PyTypeObject*, Later, Items>;

/// A set of placeholders, one bit for each.
using Placeholders = uint64_t;

/// An expression, or a part of one.
template <size_t Instructions, size_t Literals, Placeholders Used>
struct Sequence {
    static constexpr Placeholders placeholders = Used;

    std::array<Instruction, Instructions> instructions{};
    std::array<Literal, Literals> literals{};
};

template <size_t... I, size_t... L, Placeholders... P>
constexpr auto joined(const Sequence<I, L, P>&... parts) {
    Sequence<(size_t{0} + ... + I), (size_t{0} + ... + L), (Placeholders{0} | ... | P)>
        whole;
    [[maybe_unused]] size_t instructions = 0;
    [[maybe_unused]] size_t literals = 0;
    [[maybe_unused]] const auto append = [&](const auto& part) {
        for (const Instruction& each : part.instructions)
            whole.instructions[instructions++] = each;
        for (const Literal& each : part.literals) whole.literals[literals++] = each;
    };
    (append(parts), ...);
    return whole;
}

constexpr Sequence<1, 0, 0> one(const Instruction& instruction) {
    return {.instructions = {instruction}, .literals = {}};
}

template <Placeholders Used = 0>
constexpr Sequence<0, 1, Used> one(const Literal& literal) {
    return {.instructions = {}, .literals = {literal}};
}

template <size_t I, size_t L, Placeholders P>
constexpr Sequence<0, L, P> without_instructions(const Sequence<I, L, P>& sequence) {
    return {.instructions = {}, .literals = sequence.literals};
}

template <size_t I, size_t L, Placeholders P>
constexpr auto without_last_instruction(const Sequence<I, L, P>& sequence) {
    Sequence<I - 1, L, P> shorter{.instructions = {}, .literals = sequence.literals};
    for (size_t i = 0; i + 1 < I; ++i)
        shorter.instructions[i] = sequence.instructions[i];
    return shorter;
}

}  // namespace guardtree::dsl
