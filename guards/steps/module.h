// module: an imported module.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/attributes.h"
#include "../concepts/kind.h"
#include "../objects/sys_modules.h"

namespace guardtree {

struct Module {
    static constexpr Info info{
        .name = "module",
        .summary =
            "A module by its full name, as sys.modules has it now. It is not imported. "
            "Fetches nothing where sys.modules is no dict.",
        .python = "__import__('sys').modules[name]",
        .reads = Reads::item,
    };
    static constexpr StepExample examples[] = {
        {"'sys'", "{}", "__import__('sys')", ""},
        {"'builtins'", "{}", "__import__('builtins')", ""}};

    Text name;

    static constexpr auto operands() {
        return std::tuple{operand("name", &Module::name)};
    }

    /// sys.modules, which contains the entry if it is a dict.
    static PyObject* dict_of(const View&) noexcept { return sys_modules(); }

    Borrowed<> get(const View& view) const noexcept {
        return find_name(dict_of(view), name.value);
    }
};

}  // namespace guardtree
