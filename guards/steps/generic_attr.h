// generic_attr: an attribute, by object.__getattribute__'s rules.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/plain_attribute.h"

namespace guardtree {

struct GenericAttr {
    static constexpr Info info{
        .name = "generic_attr",
        .summary =
            "An attribute as `object.__getattribute__` finds it: descriptors run, an "
            "overridden `__getattribute__` and `__getattr__` do not. AttributeError "
            "fails the guard, other exceptions are errors.",
        .python = "object.__getattribute__(value, name)",
        .calls_python = true,
    };
    static constexpr StepExample examples[] = {
        {"'real'", "3", "3", "None"},
        {"'a'", "type('C', (), {'a': 1, '__getattribute__': None})()", "1",
         "type('C', (), {'__getattr__': lambda self, name: 1})()"}};

    Text name;

    static constexpr auto operands() {
        return std::tuple{operand("name", &GenericAttr::name)};
    }

    Borrowed<> peek(PyObject* value, Remembered remembered) const noexcept {
        // A class is asked for its attributes as an object is, which is not getattr.
        if (PyType_Check(value)) return nullptr;
        return plain_attribute(value, name.value, remembered);
    }

    Owned<> get(PyObject* value) const noexcept {
        auto found = Owned<>::steal(PyObject_GenericGetAttr(value, name.value));
        if (!found && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
        return found;
    }
};

}  // namespace guardtree
