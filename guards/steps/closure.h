// closure: a free variable of the frame's function.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct Closure {
    static constexpr Info info{
        .name = "closure",
        .summary =
            "A free variable by name, read from the function's cell. Fails while "
            "the cell is empty.",
        .python = "name",
    };
    static constexpr StepExample examples[] = {{"'x'", "{'x': 3}", "3", "{}"}};

    Name name;
    int32_t index = -1;

    static constexpr auto operands() {
        return std::tuple{operand("name", &Closure::name)};
    }

    bool bind(PyCodeObject* code, std::string& problem);

    Borrowed<> get(const View& view) const noexcept {
        return view.free_variable(index);
    }
};

}  // namespace guardtree
