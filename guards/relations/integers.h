// integers: an integer expression over values is true.
// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>

#include "../concepts/kind.h"
#include "../integers/text.h"

namespace guardtree {

struct Integers {
    static constexpr Info info{
        .name = "integers",
        .summary =
            "An expression over exact ints, lengths of builtin containers, shapes and "
            "strides of tensors is true, computed in 64 bits: + - * // %, comparisons, "
            "and, or, not, len(name), name.shape[0], stride_of(name, 0), name.ndim. A "
            "value of another type, an overflow and a division by zero fail it.",
        .python = "int64(a) == int64(b) * 2",
    };
    static constexpr RelationExample examples[] = {
        {"'a == b * 2'", "(6, 3)", "(6, 4)"},
        {"'0 < x <= 64'", "(64,)", "(0,)"},
        {"'len(xs) % 8 == 0'", "('a' * 16,)", "([1],)"},
        {"'a // b == -2 and a % b == 1'", "(-5, 3)", "(5, 3)"},
        {"'a + 1 > a'", "(2**62,)", "(2**63 - 1,)"},
        {"'a == -9223372036854775808'", "(-(2**63),)", "(2**63 - 1,)"},
        {"'a == 1'", "(1,)", "(True,)"},
        {"'x == 0 or 10 // x == 5'", "(0,)", "(3,)"},
        {"'a.shape[1] == b.shape[0] and a.ndim == 2'",
         "(numpy.zeros((2, 3)), numpy.zeros(3))",
         "(numpy.zeros((2, 3)), numpy.zeros(2))"},
        {"'stride_of(x, 0) == x.shape[-1] * 8'", "(numpy.zeros((3, 16)),)", "([8],)"},
        {"'(a + b) * (c - d) == -a'", "(-1, 2, 3, 2)", "(1.0, 2, 3, 2)"}};

    IntegerText expression;

    static constexpr auto operands() {
        return std::tuple{operand("expression", &Integers::expression)};
    }

    /// The names of the values, in order, for keyword arguments.
    const std::vector<std::string>& names() const noexcept {
        return expression.value->names();
    }

    std::string arity_problem(size_t count) const;

    std::string text(std::span<const std::string> paths) const {
        return expression.value->text(paths);
    }

    /// The expression over the paths, instead of over its names.
    std::string call(std::span<const std::string> paths) const {
        const std::string said = expression.value->plain_text(paths);
        const char* quote = said.find('\'') == said.npos ? "'" : "\"";
        return std::string(info.name) + "(" + quote + said + quote + ")";
    }

    std::string reason(std::span<PyObject* const> values,
                       std::span<const std::string> paths) const {
        return expression.value->why_undefined(values.data(), paths);
    }

    /// Known only if all values are constants.
    Known known_by_nodes(std::span<const uint32_t>,
                         std::span<PyObject*> constants) const {
        if (std::ranges::count(constants, nullptr)) return Known::nothing;
        return known_to(check(constants));
    }

    static bool join_relations(std::span<const JoinedPart<Integers>> parts,
                               Integers& to, References& keep);

    bool check(std::span<PyObject*> values) const noexcept {
        return expression.value->holds(values);
    }
};

}  // namespace guardtree
