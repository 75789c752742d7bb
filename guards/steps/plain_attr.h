// plain_attr: an attribute that getattr returns without running code.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/plain_attribute.h"

namespace guardtree {

struct PlainAttr {
    static constexpr Info info{
        .name = "plain_attr",
        .summary =
            "The attribute that `getattr` returns, if it runs no code and makes no "
            "object: from the value's own `__dict__`, a slot, a field of a named "
            "tuple, or a class; from the value itself, if that is a class, functions "
            "and properties too. Also `__class__`, and `__name__` of a class that "
            "Python code made. Fetches nothing if getattr binds a descriptor, from "
            "modules (see `module_attr`), slots behind the items of a tuple, what only "
            "a metaclass has, and if the type has a `__getattribute__` other than "
            "object's or type's.",
        .python = "plain_attr(value, name)",
        .reads = Reads::class_and_attribute,
    };
    static constexpr StepExample examples[] = {
        {"'a'", "type('P', (), {'__init__': lambda self: setattr(self, 'a', 2)})()",
         "2", "type('P', (), {'a': property(lambda self: 2)})()"},
        {"'a'",
         "type('P', (), {'a': 1, '__init__': lambda self: setattr(self, 'a', 2)})()",
         "2", "type('P', (), {'a': property(lambda self: 2)})()"},
        {"'a'", "type('P', (), {'a': 5})()", "5",
         "type('P', (), {'a': lambda self: 5})()"},
        {"'a'", "type('P', (), {'a': 5})", "5",
         "type('M', (type,), {'a': property(lambda self: 5)})('P', (), {'a': 5})"},
        {"'__class__'", "(7).real", "int",
         "type('P', (), {'__class__': property(lambda self: int)})()"},
        {"'__name__'", "type('P', (), {})", "'P'", "int"},
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

    HashedName name;

    static constexpr auto operands() {
        return std::tuple{operand("name", &PlainAttr::name)};
    }

    Borrowed<> get(PyObject* value, Remembered remembered) const noexcept {
        return plain_attribute(value, name, remembered);
    }
};

}  // namespace guardtree
