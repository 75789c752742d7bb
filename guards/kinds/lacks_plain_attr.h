// lacks_plain_attr: getattr raises AttributeError without running code.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/plain_attribute.h"

namespace guardtree {

struct LacksPlainAttr {
    static constexpr Info info{
        .name = "lacks_plain_attr",
        .summary =
            "`getattr` raises AttributeError for the name, without running code: "
            "neither the class nor the value's own `__dict__` has the attribute, or it "
            "is an empty slot. It fails where `getattr` would run code: the value is a "
            "class, its type has a `__getattr__` or a `__getattribute__` other than "
            "object's, or keys that are not str would have to be asked.",
        .python = "lacks_plain_attr(value, name)",
        .reads = Reads::class_and_attribute,
    };
    static constexpr Example examples[] = {
        {"'real'", "'a'", "1"},
        {"'a'", "type('C', (), {'__slots__': 'a'})()",
         "__import__('types').SimpleNamespace(a=1)"},
        {"'a'", "type('C', (), {})()",
         "type('C', (), {'__getattr__': lambda self, name: 1})()"},
        {"'a'", "type('C', (), {})()", "type('C', (), {})"}};

    HashedName name;

    static constexpr auto operands() {
        return std::tuple{operand("name", &LacksPlainAttr::name)};
    }

    bool check(PyObject* value) const noexcept {
        return lacks_plain_attribute(value, name);
    }
};

}  // namespace guardtree
