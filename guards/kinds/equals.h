// equals: equality with a constant, by value and exact type.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/constant_compare.h"
#include "../objects/keys.h"

namespace guardtree {

struct Equals {
    static constexpr Info info{
        .name = "equals",
        .summary =
            "The value equals a constant, and so do the types of both at every "
            "depth; floats are compared by bits. The constant is copied.",
        .python = "same_constant(value, expected)",
        .shorthand = "value == expected",
        .fact = "value",
        .is_by_value = true,
    };
    static constexpr Example examples[] = {
        {"3", "3", "3.0"},
        {"1", "1", "True"},
        {"0.0", "0.0", "-0.0"},
        {"float('nan')", "float('nan')", "1.0"},
        {"(1,)", "(1,)", "(True,)"},
        {"'a'", "'a'", "b'a'"},
        {"2**70", "2**70", "2**70 + 1"},
        {"[1, {'k': {2}}]", "[1, {'k': {2}}]", "[1, {'k': {2.0}}]"},
        {"{'a': 1, 2: 3}", "{2: 3, 'a': 1}", "{'a': 1, True: 3}"},
        {"frozenset({1, 'x'})", "frozenset({'x', 1})", "{1, 'x'}"},
        {"1j", "1j", "complex(-0.0, 1)"}};

    Constant expected;

    static constexpr auto operands() {
        return std::tuple{operand("expected", &Equals::expected)};
    }

    PyTypeObject* exact_type() const noexcept { return Py_TYPE(expected.value); }

    PyObject* only_constant() const noexcept { return expected.value; }

    void add_keys(std::vector<Keys>& to) const {
        to.push_back({{KeyKind::constant}, {constant_key(expected.value)}});
    }

    /// Forced, because gcc 16 inlines it or not depending on the rest of the walk
    /// (bench `compare_torch.py`, ten scalars: 19 ns or 26 ns).
    [[gnu::always_inline]] bool check(PyObject* value) const noexcept {
        return equals_constant(value, expected.value);
    }
};

}  // namespace guardtree
