// tuple_item: an element of a tuple by position.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/element.h"
#include "../concepts/kind.h"

namespace guardtree {

struct TupleItem {
    static constexpr Info info{
        .name = "tuple_item",
        .summary =
            "An element of a tuple or a subclass of tuple by position; negative counts "
            "from the end. An overridden `__getitem__` does not run.",
        .python = "tuple.__getitem__(value, index)",
        .reads = Reads::identity,
    };
    static constexpr StepExample examples[] = {{"0", "(7,)", "7", "()"},
                                               {"-1", "(7, 8)", "8", "[7, 8]"}};

    Index index;

    static constexpr auto operands() {
        return std::tuple{operand("index", &TupleItem::index)};
    }

    static constexpr ItemOwner item_owner = ItemOwner::tuple;

    Py_ssize_t index_in(PyCodeObject*) const noexcept { return index.value; }

    Borrowed<> get(PyObject* value) const noexcept {
        if (!PyTuple_Check(value)) [[unlikely]]
            return nullptr;
        return tuple_element(value, index.value);
    }
};

}  // namespace guardtree
