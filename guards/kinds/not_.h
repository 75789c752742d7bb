// not_: passes if another kind fails.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/inner_kinds.h"
#include "../concepts/kind.h"

namespace guardtree {

struct Not {
    static constexpr Info info{
        .name = "not_",
        .summary =
            "The inner kind fails: `not_((\"type_match\", int))`. An error of it stays "
            "an error. Kinds nest at most 32 deep.",
        .python = "not kind",
        .calls_python = true,  // the inner kind may
    };
    static constexpr Example examples[] = {{"('type_match', int)", "True", "1"},
                                           {"('is_none',)", "0", "None"},
                                           {"('not_', ('equals', 1))", "1", "1.0"},
                                           {"('int_range', 0, 9)", "10", "5"}};

    InnerKind kind;

    static constexpr auto operands() { return std::tuple{operand("kind", &Not::kind)}; }

    std::span<const Op> inner_kinds() const noexcept { return kind.ops(); }

    Verdict check(PyObject* value) const noexcept {
        const Verdict inner = kind.first_not_failing(value);
        if (inner == Verdict::error) return inner;
        return inner == Verdict::pass ? Verdict::fail : Verdict::pass;
    }
};

}  // namespace guardtree
