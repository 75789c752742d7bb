// set_equals: the elements of a set.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/constant.h"
#include "../objects/keys.h"

namespace guardtree {

struct SetEquals {
    static constexpr Info info{
        .name = "set_equals",
        .summary =
            "A set or a frozenset (both are accepted, subclasses are not) of exactly "
            "these constants, types included.",
        .python =
            "is_exact_set(value) and same_constant(frozenset(value), "
            "expected)",
        .is_by_value = true,
    };
    static constexpr Example examples[] = {
        {"{1, 'a'}", "{'a', 1}", "{'a', True}"},
        {"{1}", "frozenset({1})", "{1, 2}"},
        {"set()", "frozenset()", "{}"},
        {"frozenset({(1,)})", "{(1,)}", "{(True,)}"}};

    ConstantSet expected;

    static constexpr auto operands() {
        return std::tuple{operand("expected", &SetEquals::expected)};
    }

    void add_keys(std::vector<Keys>& to) const {
        uint64_t key = 0;
        if (members_key(expected.value, key)) to.push_back({{KeyKind::members}, {key}});
    }

    bool check(PyObject* value) const noexcept {
        return has_members(value, expected.value);
    }
};

}  // namespace guardtree
