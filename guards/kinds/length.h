// length: the number of elements of a builtin container.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/builtin_length.h"
#include "../objects/keys.h"

namespace guardtree {

struct Length {
    static constexpr Info info{
        .name = "length",
        .summary =
            "A list, tuple, dict, set, frozenset, str, bytes, bytearray, range or "
            "deque (or a subclass that keeps its `__len__`) of this length. User "
            "`__len__` never runs; such values fail.",
        .python = "has_builtin_len(value) and len(value) == expected",
        .shorthand = "len(value) == expected",
        .fact = "len(value)",
        .is_by_value = true,
        .reads = Reads::keys,
    };
    static constexpr Example examples[] = {
        {"2", "[1, 2]", "[1]"},
        {"1", "{'a': 1}", "{}"},
        {"0", "()", "(1,)"},
        {"3", "'abc'", "'ab'"},
        {"2", "b'ab'", "2"},
        {"5", "range(5)", "range(6)"},
        {"1", "{1}", "frozenset()"},
        {"1", "type('L', (list,), {})([1])",
         "type('L', (list,), {'__len__': lambda self: 1})()"}};

    Count expected;

    static constexpr auto operands() {
        return std::tuple{operand("expected", &Length::expected)};
    }

    /// The dict whose keys determine the length; null for other values.
    static PyObject* dict_of(PyObject* value) noexcept {
        return keeps_length_of_dict(value) ? value : nullptr;
    }

    Py_ssize_t compared_length() const noexcept {
        return static_cast<Py_ssize_t>(expected.value);
    }

    Known known_by(const Length& passed) const noexcept {
        return known_to(expected.value == passed.expected.value);
    }

    void add_keys(std::vector<Keys>& to) const {
        const auto length = static_cast<uint64_t>(expected.value);
        to.push_back({{KeyKind::length}, {length}});
    }

    bool check(PyObject* value) const noexcept {
        return builtin_length(value) == expected.value;
    }
};

}  // namespace guardtree
