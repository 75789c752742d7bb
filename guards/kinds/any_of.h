// any_of: at least one of several kinds passes.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/inner_kinds.h"
#include "../concepts/kind.h"

namespace guardtree {

struct AnyOf {
    static constexpr Info info{
        .name = "any_of",
        .summary =
            "One of the inner kinds passes: `any_of(((\"is_none\",), (\"type_match\", "
            "int)))`. They are tried in order until one passes or is an error, which "
            "stays one.",
        .python = "kinds",
        .calls_python = true,  // an inner kind may
    };
    static constexpr Example examples[] = {
        {"(('is_none',), ('type_match', int))", "None", "True"},
        {"(('type_match', str), ('int_sign', 1))", "3", "0"},
        {"(('not_', ('instance_of', int)),)", "1.0", "True"}};

    InnerKinds kinds;

    static constexpr auto operands() {
        return std::tuple{operand("kinds", &AnyOf::kinds)};
    }

    std::span<const Op> inner_kinds() const noexcept { return kinds.ops(); }

    void add_keys(std::vector<Keys>& to) const { kinds.add_keys(to); }

    Verdict check(PyObject* value) const noexcept {
        return kinds.first_not_failing(value);
    }
};

}  // namespace guardtree
