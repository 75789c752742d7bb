// stride: the stride of a tensor's dimension.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../tensors/readers.h"

namespace guardtree {

struct Stride {
    static constexpr Info info{
        .name = "stride",
        .summary =
            "A tensor's stride in one dimension, as an int, in the library's own unit: "
            "bytes in NumPy, elements elsewhere. CPython may make an int for it; in "
            "integers relations `stride_of(x, 0)` reads the number itself.",
        .python = "stride_of(value, index)",
    };
    static constexpr StepExample examples[] = {
        {"0", "numpy.zeros((300, 3))", "24", "numpy.zeros(())"},
        {"-1", "numpy.zeros((2, 3), 'f')", "4", "[]"}};

    Index index;

    static constexpr auto operands() {
        return std::tuple{operand("index", &Stride::index)};
    }

    Owned<> get(PyObject* value) const noexcept {
        int64_t stride = 0;
        if (!read_tensor_stride(value, index.value, stride)) return {};
        return int_object(stride);
    }
};

}  // namespace guardtree
