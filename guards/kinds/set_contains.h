// set_contains: a set has an element.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/keys.h"

namespace guardtree {

struct SetContains {
    static constexpr Info info{
        .name = "set_contains",
        .summary =
            "A set, a frozenset or a subclass of one that has this item; an overridden "
            "`__contains__` does not run. Every other value fails.",
        .python = "is_a_set(value) and plain_contains(value, item)",
        .calls_python = true,  // an element of a user type may have the same hash
    };
    static constexpr Example examples[] = {
        {"1", "{1, 2}", "{2}"},
        {"1", "{True}", "[1]"},
        {"'a'", "frozenset({'a'})", "'a'"},
        {"2", "type('S', (set,), {'__contains__': lambda *_: False})({2})", "set()"}};

    Key item;

    static constexpr auto operands() {
        return std::tuple{operand("item", &SetContains::item)};
    }

    void add_keys(std::vector<Keys>& to) const {
        to.push_back({{KeyKind::set_item}, {static_cast<uint64_t>(item.hash)}});
    }

    Verdict check(PyObject* value) const noexcept {
        if (!PyAnySet_Check(value)) return Verdict::fail;
        const Owned<> pinned = Owned<>::share(value);  // while an `__eq__` may run
        const int found = PySet_Contains(value, item.value);
        if (found < 0) return Verdict::error;
        return found ? Verdict::pass : Verdict::fail;
    }
};

}  // namespace guardtree
