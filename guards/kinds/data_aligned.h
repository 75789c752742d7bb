// data_aligned: where in memory a tensor's elements begin.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../tensors/readers.h"

namespace guardtree {

struct DataAligned {
    static constexpr Info info{
        .name = "data_aligned",
        .summary =
            "A tensor whose first element's address `divisor` divides. Tensors without "
            "data fail.",
        .python = "has_aligned_data(value, divisor)",
    };
    static constexpr Example examples[] = {
        {"1", "numpy.zeros(3)", "[]"},
        {"2", "numpy.zeros(4, 'h')", "numpy.zeros(9, 'b')[1:]"},
        {"-8", "numpy.zeros(3)", "numpy.zeros(9, 'b')[1:]"}};

    Divisor divisor;

    static constexpr auto operands() {
        return std::tuple{operand("divisor", &DataAligned::divisor)};
    }

    bool check(PyObject* value) const noexcept {
        TensorFacts facts;
        if (!read_tensor(value, facts) || !facts.data) return false;
        const int64_t address = reinterpret_cast<intptr_t>(facts.data);
        // The smallest number divided by -1 overflows.
        return divisor.value == -1 || address % divisor.value == 0;
    }
};

}  // namespace guardtree
