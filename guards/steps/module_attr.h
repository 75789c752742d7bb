// module_attr: an item of a module's dict.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/attributes.h"
#include "../concepts/kind.h"

namespace guardtree {

struct ModuleAttr {
    static constexpr Info info{
        .name = "module_attr",
        .summary =
            "An entry of the dict of a module (or of a subclass): a module's "
            "`__getattr__`, and properties of a subclass, do not run.",
        .python = "dict_of_module(value)[name]",
        .reads = Reads::item,
    };
    static constexpr StepExample examples[] = {
        {"'maxsize'", "__import__('sys')", "__import__('sys').maxsize", "3"},
        {"'path'", "__import__('os')", "__import__('os').path", "__import__('math')"}};

    Text name;

    static constexpr auto operands() {
        return std::tuple{operand("name", &ModuleAttr::name)};
    }

    /// The dict that contains the entry; null if the value is not a module.
    static PyObject* dict_of(PyObject* value) noexcept {
        return PyModule_Check(value) ? PyModule_GetDict(value) : nullptr;
    }

    Borrowed<> get(PyObject* value) const noexcept {
        return find_name(dict_of(value), name.value);
    }
};

}  // namespace guardtree
