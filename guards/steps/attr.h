// attr: an attribute through the full protocol.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/attributes.h"
#include "../concepts/kind.h"

namespace guardtree {

struct Attr {
    static constexpr Info info{
        .name = "attr",
        .summary =
            "An attribute, through the full protocol: properties and `__getattr__` "
            "run. AttributeError fails the guard, other exceptions are errors.",
        .python = "value.name",
        .shorthand = "getattr(value, name)",
        .calls_python = true,
    };
    static constexpr StepExample examples[] = {{"'real'", "3", "3", "None"},
                                               {"'__name__'", "len", "'len'", "3"}};

    Name name;

    static constexpr auto operands() {
        return std::tuple{operand("name", &Attr::name)};
    }

    Owned<> get(PyObject* value) const noexcept {
        return find_attribute(value, name.value);
    }
};

}  // namespace guardtree
