// id_match_held: identity with one object, which the guard keeps alive.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/keys.h"

namespace guardtree {

struct IdMatchHeld {
    static constexpr Info info{
        .name = "id_match_held",
        .summary =
            "The value is this very object. Held strongly: use it where nothing else "
            "keeps the object alive. (id_match holds weakly where it can.)",
        .python = "value is expected",
        .fact = "value",
        .is_leaf = true,
        .reads = Reads::identity,
    };
    static constexpr Example examples[] = {
        {"len", "len", "print"}, {"None", "None", "0"}, {"1", "1", "True"}};

    Held expected;

    static constexpr auto operands() {
        return std::tuple{operand("expected", &IdMatchHeld::expected)};
    }

    void add_keys(std::vector<Keys>& to) const {
        to.push_back({{KeyKind::identity}, {address_key(expected.value)}});
    }

    bool check(PyObject* value) const noexcept { return value == expected.value; }
};

}  // namespace guardtree
