// f_locals: the frame's locals as a mapping; the only step that may create a dict.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct FLocals {
    static constexpr Info info{
        .name = "f_locals",
        .summary =
            "The locals as a mapping: a dict that is made once per lookup and "
            "counted. For Python-level guards.",
        .python = "L",
        .calls_python = true,  // making a dict may run the garbage collector on 3.11
    };
    static constexpr StepExample examples[] = {{"", "{'x': 3}", "{'x': 3}", ""}};

    static constexpr auto operands() { return std::tuple{}; }

    Borrowed<> get(const View& view) const noexcept { return view.f_locals(); }
};

}  // namespace guardtree
