// deque_item: an element of a deque by position.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/builtin_length.h"

namespace guardtree {

struct DequeItem {
    static constexpr Info info{
        .name = "deque_item",
        .summary =
            "An element of a deque or a subclass by its place; negative counts from "
            "the end. An overridden `__getitem__` does not run.",
        .python = "deque_item(value, index)",
    };
    static constexpr StepExample examples[] = {
        {"0", "__import__('collections').deque([7])", "7", "[7]"},
        {"-1", "__import__('collections').deque([7, 8])", "8",
         "__import__('collections').deque()"}};

    Index index;

    static constexpr auto operands() {
        return std::tuple{operand("index", &DequeItem::index)};
    }

    Owned<> get(PyObject* value) const noexcept {
        return builtin_deque_item(value, index.value);
    }
};

}  // namespace guardtree
