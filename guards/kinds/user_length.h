// user_length: len() through the full protocol.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/keys.h"

namespace guardtree {

struct UserLength {
    static constexpr Info info{
        .name = "user_length",
        .summary =
            "`len(value)` through the full protocol: user `__len__` runs. A value "
            "without a length fails; what `__len__` raises is an error.",
        .python = "has_len(value) and len(value) == expected",
        .calls_python = true,
    };
    static constexpr Example examples[] = {
        {"2", "[1, 2]", "[1]"},
        {"1", "type('L', (list,), {'__len__': lambda self: 1})()", "None"},
        {"0", "{}.keys()", "int"},
        {"2", "memoryview(b'ab')", "memoryview(b'')"}};

    Count expected;

    static constexpr auto operands() {
        return std::tuple{operand("expected", &UserLength::expected)};
    }

    void add_keys(std::vector<Keys>& to) const {
        to.push_back({{KeyKind::length, 1}, {static_cast<uint64_t>(expected.value)}});
    }

    Verdict check(PyObject* value) const noexcept {
        const PyTypeObject* type = Py_TYPE(value);
        const bool has_length =
            (type->tp_as_sequence && type->tp_as_sequence->sq_length) ||
            (type->tp_as_mapping && type->tp_as_mapping->mp_length);
        if (!has_length) return Verdict::fail;
        const Py_ssize_t length = PyObject_Size(value);
        if (length < 0) return Verdict::error;
        return length == expected.value ? Verdict::pass : Verdict::fail;
    }
};

}  // namespace guardtree
