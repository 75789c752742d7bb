// has_static_attr: the value has an attribute, looked up without user code.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/dict_lookup.h"
#include "../objects/keys.h"
#include "../objects/static_attribute.h"

namespace guardtree {

struct HasStaticAttr {
    static constexpr Info info{
        .name = "has_static_attr",
        .summary =
            "The value has got the attribute in a dict of its type's MRO (if it is a "
            "slot: a filled one) or in a dict of its own, which is not made. A type "
            "has its own MRO's and its metatype's. `__getattr__` and "
            "`__getattribute__` are not asked: they may have it all the same, or hide "
            "it; properties do not run. Names that are not exact str in those dicts do "
            "not count.",
        .python = "has_static_attr(value, name)",
        .reads = Reads::class_and_attribute,
    };
    static constexpr Example examples[] = {
        {"'real'", "1", "'a'"},
        {"'a'", "type('C', (), {'a': property(lambda self: 1 / 0)})()",
         "type('C', (), {'__getattr__': lambda self, name: 1})()"},
        {"'mro'", "int", "1"},
        {"'a'", "__import__('types').SimpleNamespace(a=1)",
         "__import__('types').SimpleNamespace()"},
        {"'a'", "type('C', (), {'__init__': lambda self: setattr(self, 'a', 1)})()",
         "type('C', (), {'__slots__': 'a'})()"}};

    Text name;

    static constexpr auto operands() {
        return std::tuple{operand("name", &HasStaticAttr::name)};
    }

    void add_keys(std::vector<Keys>& to) const {
        const auto hash = static_cast<uint64_t>(hash_of_str(name.value));
        to.push_back({{KeyKind::attribute}, {hash}});
    }

    bool check(PyObject* value) const noexcept {
        return has_static_attribute(value, name.value);
    }
};

}  // namespace guardtree
