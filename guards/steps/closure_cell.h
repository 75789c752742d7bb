// closure_cell: the content of a cell of a function's closure.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct ClosureCell {
    static constexpr Info info{
        .name = "closure_cell",
        .summary =
            "The content of a cell of a function's closure; negative counts from the "
            "end. Fetches nothing from an empty cell.",
        .python = "plain_function(value).__closure__[index].cell_contents",
    };
    static constexpr StepExample examples[] = {
        {"0", "(lambda x: lambda: x)(3)", "3", "lambda: 0"},
        {"-1", "(lambda x, y: lambda: (x, y))(3, 4)", "4", "len"}};

    Index index;

    static constexpr auto operands() {
        return std::tuple{operand("index", &ClosureCell::index)};
    }

    Borrowed<> get(PyObject* value) const noexcept {
        if (!PyFunction_Check(value)) return nullptr;
        PyObject* cells = reinterpret_cast<PyFunctionObject*>(value)->func_closure;
        if (!cells) return nullptr;
        const Py_ssize_t size = PyTuple_GET_SIZE(cells);
        const Py_ssize_t place = index.value < 0 ? index.value + size : index.value;
        if (place < 0 || place >= size) return nullptr;
        return PyCell_GET(PyTuple_GET_ITEM(cells, place));
    }
};

}  // namespace guardtree
