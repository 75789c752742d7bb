// plain_attr: an attribute that getattr finds without running code.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/plain_attribute.h"

namespace guardtree {

struct PlainAttr {
    static constexpr Info info{
        .name = "plain_attr",
        .summary =
            "An attribute that `getattr` finds in the value's own `__dict__`, in a "
            "slot or in a field of a named tuple, without running code. Fetches "
            "nothing where `getattr` would run code or ask a class: the value is a "
            "class, its type has a `__getattribute__` other than object's, or a "
            "property or another data descriptor has the name.",
        .python = "plain_attr(value, name)",
        .reads = Reads::class_and_attribute,
    };
    static constexpr StepExample examples[] = {
        {"'a'", "type('P', (), {'__init__': lambda self: setattr(self, 'a', 2)})()",
         "2", "type('P', (), {'a': property(lambda self: 2)})()"},
        {"'a'",
         "type('P', (), {'a': 1, '__init__': lambda self: setattr(self, 'a', 2)})()",
         "2", "type('P', (), {'a': 2})()"},
        {"'a'",
         "type('C', (), {'__slots__': 'a', '__init__': lambda self: setattr(self, 'a', "
         "5)})()",
         "5", "type('C', (), {'__slots__': 'a'})()"},
        {"'a'", "__import__('collections').namedtuple('P', 'a')(5)", "5",
         "tuple.__new__(__import__('collections').namedtuple('P', 'a'))"},
        {"'a'", "type('P', (), {'__init__': lambda self: setattr(self, 'a', 2)})()",
         "2",
         "type('P', (), {'__init__': lambda self: setattr(self, 'a', 2), "
         "'__getattribute__': lambda self, name: 2})()"}};

    Key name;

    static constexpr auto operands() {
        return std::tuple{operand("name", &PlainAttr::name)};
    }

    Borrowed<> get(PyObject* value, Remembered remembered) const noexcept {
        return plain_attribute(value, name, remembered);
    }
};

}  // namespace guardtree
