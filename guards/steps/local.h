// local: a local, argument or cell variable of the frame.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct Local {
    static constexpr Info info{
        .name = "local",
        .summary =
            "A local variable, argument or cell variable by name, read from its raw "
            "slot. Fails while it is unbound.",
        .python = "name",
    };
    static constexpr StepExample examples[] = {{"'x'", "{'x': 3}", "3", "{}"}};

    Name name;
    int32_t slot = -1;

    static constexpr auto operands() {
        return std::tuple{operand("name", &Local::name)};
    }

    static constexpr ItemOwner item_owner = ItemOwner::slots;

    Py_ssize_t index_in(PyCodeObject* code) const noexcept {
        return find_slot(code, name.value);
    }

    bool bind(PyCodeObject* code, std::string& problem);

    Borrowed<> get(const View& view) const noexcept { return view.local(slot); }
};

}  // namespace guardtree
