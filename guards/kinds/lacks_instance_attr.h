// lacks_instance_attr: the value's own `__dict__` does not contain a name.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/instance_attribute.h"

namespace guardtree {

struct LacksInstanceAttr {
    static constexpr Info info{
        .name = "lacks_instance_attr",
        .summary =
            "The value's own `__dict__` has not got the attribute, whatever its class "
            "says: nothing shadows what the class has. No user code runs, and no "
            "`__dict__` is made where there is none yet. It fails for a `__dict__` in "
            "which a key of a user's type with the same hash would have to be asked. "
            "Values that are classes, and values without a `__dict__`, have none.",
        .python = "has_instance_attr(value, name) is False",
        .reads = Reads::attribute,
    };
    static constexpr Example examples[] = {
        {"'a'", "type('P', (), {'a': 2})()",
         "type('P', (), {'__init__': lambda self: setattr(self, 'a', 2)})()"},
        {"'a'", "type('L', (list,), {})()",
         "type('L', (list,), {'__init__': lambda self: setattr(self, 'a', 2)})()"},
        {"'a'", "type('P', (), {'a': 2})", "__import__('types').SimpleNamespace(a=3)"},
        {"'real'", "1", "__import__('types').SimpleNamespace(real=None)"}};

    Key name;

    static constexpr auto operands() {
        return std::tuple{operand("name", &LacksInstanceAttr::name)};
    }

    bool check(PyObject* value) const noexcept {
        return presence_in_instance(value, name) == Presence::absent;
    }
};

}  // namespace guardtree
