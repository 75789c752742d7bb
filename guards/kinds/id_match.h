// id_match: identity with one object.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/keys.h"

namespace guardtree {

struct IdMatch {
    static constexpr Info info{
        .name = "id_match",
        .summary =
            "The value is this very object. Held weakly where it can be: once the "
            "object died, nothing matches.",
        .python = "value is expected",
        .fact = "value",
        .is_leaf = true,
        .reads = Reads::identity,
    };
    static constexpr Example examples[] = {{"len", "len", "print"},
                                           {"None", "None", "0"}};

    Identity expected;

    static constexpr auto operands() {
        return std::tuple{operand("expected", &IdMatch::expected)};
    }

    void add_keys(std::vector<Keys>& to) const {
        to.push_back({{KeyKind::identity}, {address_key(expected.object)}});
    }

    bool check(PyObject* value) const noexcept { return expected.is(value); }
};

}  // namespace guardtree
