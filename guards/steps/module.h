// module: an imported module.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/attributes.h"
#include "../kind.h"

namespace guardtree {

struct Module {
    static constexpr Info info{
        .name = "module",
        .summary =
            "A module by its full name, as sys.modules has it. It is not imported.",
        .python = "__import__('sys').modules[name]",
    };
    static constexpr StepExample examples[] = {
        {"'sys'", "{}", "__import__('sys')", "None"},
        {"'builtins'", "{}", "__import__('builtins')", "None"}};

    Text name;

    static constexpr auto operands() {
        return std::tuple{operand("name", &Module::name)};
    }

    Borrowed<> get(const View&) const noexcept {
        return find_name(PyImport_GetModuleDict(), name.value);
    }
};

}  // namespace guardtree
