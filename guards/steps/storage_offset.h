// storage_offset: the offset of a tensor in its storage.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../tensors/readers.h"

namespace guardtree {

struct StorageOffset {
    static constexpr Info info{
        .name = "storage_offset",
        .summary =
            "Where in its storage a tensor begins, in elements, as an int. NumPy's "
            "arrays and DLPack's do not tell.",
        .python = "tensor(value).storage_offset()",
    };
    static constexpr StepExample examples[] = {
        {"", "torch.zeros(8)[2:]", "2", "numpy.zeros(3)"}};

    static constexpr auto operands() { return std::tuple{}; }

    Owned<> get(PyObject* value) const noexcept {
        int64_t offset = 0;
        if (!read_tensor_storage_offset(value, offset)) return {};
        return int_object(offset);
    }
};

}  // namespace guardtree
