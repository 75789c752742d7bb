// lacks_attr: the value has no such attribute, by the full protocol.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/attributes.h"
#include "../concepts/kind.h"

namespace guardtree {

struct LacksAttr {
    static constexpr Info info{
        .name = "lacks_attr",
        .summary =
            "The value has not got the attribute, by the full protocol: properties and "
            "`__getattr__` run. Other exceptions than AttributeError are errors.",
        .python = "not hasattr(value, name)",
        .calls_python = true,
    };
    static constexpr Example examples[] = {
        {"'real'", "'a'", "1"},
        {"'a'", "None", "type('C', (), {'__getattr__': lambda self, name: 1})()"}};

    Text name;

    static constexpr auto operands() {
        return std::tuple{operand("name", &LacksAttr::name)};
    }

    Verdict check(PyObject* value) const noexcept {
        if (find_attribute(value, name.value)) return Verdict::fail;
        return PyErr_Occurred() ? Verdict::error : Verdict::pass;
    }
};

}  // namespace guardtree
