// instance_attr: an item of the value's own `__dict__`.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/instance_attribute.h"

namespace guardtree {

struct InstanceAttr {
    static constexpr Info info{
        .name = "instance_attr",
        .summary =
            "An attribute that the value's own `__dict__` holds, whatever its class "
            "says. No user code runs, and no `__dict__` is made where there is none "
            "yet. Values that are classes have none.",
        .python = "instance_attr(value, name)",
        .reads = Reads::attribute,
    };
    static constexpr StepExample examples[] = {
        {"'a'", "type('P', (), {'__init__': lambda self: setattr(self, 'a', 2)})()",
         "2", "type('P', (), {'a': 2})()"},
        {"'a'",
         "type('L', (list,), {'__init__': lambda self: setattr(self, 'a', 2)})()", "2",
         "type('P', (), {'a': 2})"},
        {"'a'", "__import__('types').SimpleNamespace(a=3)", "3", "3"}};

    Key name;

    static constexpr auto operands() {
        return std::tuple{operand("name", &InstanceAttr::name)};
    }

    static constexpr NameOwner name_owner = NameOwner::instance;

    const Key& key_found() const noexcept { return name; }

    Borrowed<> get(PyObject* value, Remembered remembered) const noexcept {
        return find_instance_attribute(value, name, remembered);
    }
};

}  // namespace guardtree
