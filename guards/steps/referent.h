// referent: the object of a weak reference.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/weak_referent.h"

namespace guardtree {

struct Referent {
    static constexpr Info info{
        .name = "referent",
        .summary = "The object of a weakref.ref (or a subclass), while it lives.",
        .python = "live_referent(value)",
    };
    static constexpr StepExample examples[] = {
        {"", "__import__('weakref').ref(int)", "int",
         "__import__('weakref').ref(set())"},
        {"", "__import__('weakref').ref(len)", "len", "int"}};

    static constexpr auto operands() { return std::tuple{}; }

    Borrowed<> get(PyObject* value) const noexcept { return weak_referent(value); }
};

}  // namespace guardtree
