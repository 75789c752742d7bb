// lacks_static_attr: the value has no such attribute, looked up without user code.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/static_attribute.h"

namespace guardtree {

struct LacksStaticAttr {
    static constexpr Info info{
        .name = "lacks_static_attr",
        .summary =
            "The value has not got the attribute in a dict of its type's MRO (if it is "
            "a slot: a filled one) or in a dict of its own, which is not made. A type "
            "has its own MRO's and its metatype's. `__getattr__` and "
            "`__getattribute__` are not asked: they may have it all the same, or hide "
            "it; properties do not run. Names that are not exact str in those dicts do "
            "not count.",
        .python = "not has_static_attr(value, name)",
        .reads = Reads::class_and_attribute,
    };
    static constexpr Example examples[] = {
        {"'real'", "'a'", "1"},
        {"'a'", "type('C', (), {'__slots__': 'a'})()",
         "__import__('types').SimpleNamespace(a=1)"},
        {"'a'", "type('C', (), {'__getattr__': lambda self, name: 1})()",
         "type('C', (), {'a': 1})"}};

    Text name;

    static constexpr auto operands() {
        return std::tuple{operand("name", &LacksStaticAttr::name)};
    }

    bool check(PyObject* value) const noexcept {
        return !has_static_attribute(value, name.value);
    }
};

}  // namespace guardtree
