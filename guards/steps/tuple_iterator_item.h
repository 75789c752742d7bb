// tuple_iterator_item: an item that a tuple iterator still has to return.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/iterators.h"
#include "../concepts/kind.h"

namespace guardtree {

struct TupleIteratorItem {
    static constexpr Info info{
        .name = "tuple_iterator_item",
        .summary =
            "The item that an iterator of a tuple will give after `index` others. It "
            "is not advanced.",
        .python = "left_of(value)[index]",
    };
    static constexpr StepExample examples[] = {{"0", "iter((7, 8))", "7", "iter(())"},
                                               {"1", "iter((7, 8))", "8", "(7, 8)"}};

    Count index;

    static constexpr auto operands() {
        return std::tuple{operand("index", &TupleIteratorItem::index)};
    }

    Borrowed<> get(PyObject* value) const noexcept {
        TupleLeft left;
        if (!read_tuple_iterator(value, left) || index.value >= left.length)
            return nullptr;
        return left.items[index.value];
    }
};

}  // namespace guardtree
