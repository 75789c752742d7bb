// id_match: identity with one object.
// SPDX-License-Identifier: MIT
#pragma once
#include "../kind.h"

namespace guardtree {

struct IdMatch {
    static constexpr Info info{
        .name = "id_match",
        .summary =
            "The value is this very object. Held weakly where it can be: once the "
            "object died, nothing matches.",
        .python = "value is expected",
        .is_leaf = true,
    };
    static constexpr Example examples[] = {{"len", "len", "print"},
                                           {"None", "None", "0"}};

    Identity expected;

    static constexpr auto operands() {
        return std::tuple{operand("expected", &IdMatch::expected)};
    }

    bool check(PyObject* value) const noexcept { return expected.is(value); }
};

}  // namespace guardtree
