// weakref_alive: a weak reference whose object is alive.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/weak_referent.h"

namespace guardtree {

struct WeakrefAlive {
    static constexpr Info info{
        .name = "weakref_alive",
        .summary = "A weakref.ref (or a subclass) whose object is alive. Proxies fail.",
        .python =
            "is_a(value, weak_reference) and weak_reference.__call__(value) is not "
            "None",
    };
    static constexpr Example examples[] = {
        {"", "__import__('weakref').ref(int)", "__import__('weakref').ref(set())"},
        {"", "type('R', (__import__('weakref').ref,), {})(int)", "int"},
        {"", "__import__('weakref').ref(len)", "__import__('weakref').proxy(len)"}};

    static constexpr auto operands() { return std::tuple{}; }

    bool check(PyObject* value) const noexcept {
        return weak_referent(value) != nullptr;
    }
};

}  // namespace guardtree
