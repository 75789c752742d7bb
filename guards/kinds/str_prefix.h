// str_prefix: the start of a str.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/keys.h"

namespace guardtree {

struct StrPrefix {
    static constexpr Info info{
        .name = "str_prefix",
        .summary = "A str (exactly: subclasses fail) that starts with `prefix`.",
        .python = "type(value) is str and value.startswith(prefix)",
        .shorthand = "value.startswith(prefix)",
        .is_by_value = true,
    };
    static constexpr Example examples[] = {{"'ab'", "'abc'", "'acb'"},
                                           {"''", "''", "None"},
                                           {"'ab'", "'ab'", "'a'"},
                                           {"'a'", "'a'", "type('S', (str,), {})('a')"},
                                           {"'a'", "'ab'", "b'ab'"}};

    Text prefix;

    static constexpr auto operands() {
        return std::tuple{operand("prefix", &StrPrefix::prefix)};
    }

    PyTypeObject* exact_type() const noexcept { return &PyUnicode_Type; }

    void add_keys(std::vector<Keys>& to) const {
        const auto length = static_cast<uint64_t>(PyUnicode_GET_LENGTH(prefix.value));
        uint64_t key = 0;
        if (prefix_key(prefix.value, length, key))
            to.push_back({{KeyKind::prefix, length}, {key}});
    }

    bool check(PyObject* value) const noexcept {
        if (!PyUnicode_CheckExact(value)) return false;
        constexpr Py_ssize_t all = PY_SSIZE_T_MAX;
        return PyUnicode_Tailmatch(value, prefix.value, 0, all, -1) == 1;
    }
};

}  // namespace guardtree
