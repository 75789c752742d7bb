// type: the value's type.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct Type {
    static constexpr Info info{
        .name = "type",
        .summary = "The value's type (not its `__class__`). Never fails.",
        .python = "type(value)",
        .reads = Reads::type,
    };
    static constexpr StepExample examples[] = {{"", "3", "int", ""}};

    static constexpr auto operands() { return std::tuple{}; }

    Borrowed<> get(PyObject* value) const noexcept { return as_object(Py_TYPE(value)); }
};

}  // namespace guardtree
