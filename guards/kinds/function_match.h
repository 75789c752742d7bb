// function_match: a function with the same code, cells and defaults.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../operands/function_parts.h"

namespace guardtree {

struct FunctionMatch {
    static constexpr Info info{
        .name = "function_match",
        .summary =
            "A function written in Python of the same code object, with the same "
            "objects in its closure cells, as defaults and as keyword defaults as "
            "`expected` had when the guard was built. Its globals, name and attributes "
            "are not compared. All is held weakly where it can be.",
        .python = "is_same_function(value, expected)",
    };
    static constexpr Example examples[] = {
        {"__import__('os').getenv", "__import__('os').getenv",
         "__import__('os').putenv"},
        {"__import__('os').getenv",
         "(lambda f: type(f)(f.__code__, {}, 'g', "
         "f.__defaults__))(__import__('os').getenv)",
         "(lambda f: type(f)(f.__code__, {}, 'g', (1,)))(__import__('os').getenv)"},
        {"__import__('os').environ.encodekey", "__import__('os').environ.encodekey",
         "(lambda f: type(f)(f.__code__, {}, 'g', None, "
         "(type(f.__closure__[0])(2),)))(__import__('os').environ.encodekey)"}};

    FunctionParts expected;

    static constexpr auto operands() {
        return std::tuple{operand("expected", &FunctionMatch::expected)};
    }

    void add_keys(std::vector<Keys>& to) const {
        to.push_back({{KeyKind::function}, {expected.key()}});
    }

    bool check(PyObject* value) const noexcept { return expected.matches(value); }
};

}  // namespace guardtree
