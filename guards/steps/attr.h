// attr: an attribute through the full protocol.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/attributes.h"
#include "../concepts/kind.h"
#include "../objects/plain_attribute.h"

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

    bool is_plain_on(PyTypeObject* type) const noexcept {
        return has_plain_attribute(type, name.value);
    }

    Borrowed<> peek(PyObject* value, Remembered remembered) const noexcept {
        return plain_attribute(value, name.value, remembered);
    }

    Owned<> get(PyObject* value) const noexcept {
        return find_attribute(value, name.value);
    }
};

}  // namespace guardtree
