// has_attr: the value has an attribute, by the full protocol.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/attributes.h"
#include "../concepts/kind.h"
#include "../objects/dict_lookup.h"
#include "../objects/keys.h"

namespace guardtree {

struct HasAttr {
    static constexpr Info info{
        .name = "has_attr",
        .summary =
            "The value has got the attribute, by the full protocol: properties and "
            "`__getattr__` run. Other exceptions than AttributeError are errors.",
        .python = "hasattr(value, name)",
        .calls_python = true,
    };
    static constexpr Example examples[] = {
        {"'real'", "1", "'a'"},
        {"'a'", "type('C', (), {'__getattr__': lambda self, name: 1})()", "None"},
        {"'__name__'", "int", "1"}};

    Text name;

    static constexpr auto operands() {
        return std::tuple{operand("name", &HasAttr::name)};
    }

    void add_keys(std::vector<Keys>& to) const {
        const auto hash = static_cast<uint64_t>(hash_of_str(name.value));
        to.push_back({{KeyKind::attribute, 1}, {hash}});
    }

    Verdict check(PyObject* value) const noexcept {
        if (find_attribute(value, name.value)) return Verdict::pass;
        return PyErr_Occurred() ? Verdict::error : Verdict::fail;
    }
};

}  // namespace guardtree
