// size: the size of a tensor's dimension.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../tensors/readers.h"

namespace guardtree {

struct Size {
    static constexpr Info info{
        .name = "size",
        .summary =
            "A tensor's size in one dimension, as an int; a negative index counts from "
            "the last one. An int above 256 is made for it; in integers relations "
            "`x.shape[0]` reads the number itself.",
        .python = "tensor(value).shape[index]",
    };
    static constexpr StepExample examples[] = {
        {"0", "numpy.zeros((300, 3))", "300", "numpy.zeros(())"},
        {"-1", "numpy.zeros((2, 3))", "3", "[]"}};

    Index index;

    static constexpr auto operands() {
        return std::tuple{operand("index", &Size::index)};
    }

    Owned<> get(PyObject* value) const noexcept {
        int64_t size = 0;
        if (!read_tensor_size(value, index.value, size)) return {};
        return int_object(size);
    }
};

}  // namespace guardtree
