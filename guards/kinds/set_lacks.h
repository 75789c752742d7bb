// set_lacks: a set does not have an element.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct SetLacks {
    static constexpr Info info{
        .name = "set_lacks",
        .summary =
            "A set, a frozenset or a subclass of one that has not this item; an "
            "overridden `__contains__` does not run. Every other value fails.",
        .python = "is_a_set(value) and not plain_contains(value, item)",
        .calls_python = true,  // an element of a user type may have the same hash
    };
    static constexpr Example examples[] = {
        {"1", "{2}", "{1}"},
        {"1", "frozenset()", "()"},
        {"2", "type('S', (set,), {'__contains__': lambda *_: True})()", "{2.0}"}};

    Key item;

    static constexpr auto operands() {
        return std::tuple{operand("item", &SetLacks::item)};
    }

    Verdict check(PyObject* value) const noexcept {
        if (!PyAnySet_Check(value)) return Verdict::fail;
        const Owned<> pinned = Owned<>::share(value);  // while an `__eq__` may run
        const int found = PySet_Contains(value, item.value);
        if (found < 0) return Verdict::error;
        return found == 0 ? Verdict::pass : Verdict::fail;
    }
};

}  // namespace guardtree
