// list_item: an element of a list by position.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/element.h"
#include "../concepts/kind.h"

namespace guardtree {

struct ListItem {
    static constexpr Info info{
        .name = "list_item",
        .summary =
            "An element of a list or a subclass of list by position; negative counts "
            "from the end. An overridden `__getitem__` does not run.",
        .python = "list.__getitem__(value, index)",
    };
    static constexpr StepExample examples[] = {{"0", "[7]", "7", "[]"},
                                               {"-1", "[7, 8]", "8", "(7, 8)"}};

    Index index;

    static constexpr auto operands() {
        return std::tuple{operand("index", &ListItem::index)};
    }

    static constexpr ItemOwner item_owner = ItemOwner::list;

    Py_ssize_t index_in(PyCodeObject*) const noexcept { return index.value; }

    Borrowed<> get(PyObject* value) const noexcept {
        if (!PyList_Check(value)) [[unlikely]]
            return nullptr;
        return list_element(value, index.value);
    }
};

}  // namespace guardtree
