// set_item: an element of a set by position.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/set_entries.h"
#include "../concepts/kind.h"

namespace guardtree {

struct SetItem {
    static constexpr Info info{
        .name = "set_item",
        .summary =
            "An element of a set, frozenset or subclass by its place in iteration "
            "order; negative counts from the end. An overridden `__iter__` does not "
            "run. Linear.",
        .python = "plain_list(value)[index]",
    };
    static constexpr StepExample examples[] = {
        {"0", "{7}", "7", "set()"},
        {"-1", "frozenset({8})", "8", "[8]"},
        {"0", "type('S', (set,), {'__iter__': None})({9})", "9", "{}"}};

    Index index;

    static constexpr auto operands() {
        return std::tuple{operand("index", &SetItem::index)};
    }

    Borrowed<> get(PyObject* value) const noexcept {
        if (!PyAnySet_Check(value)) return nullptr;
        Py_ssize_t left = index.value;
        if (left < 0) left += PySet_GET_SIZE(value);
        if (left < 0) return nullptr;
        Py_ssize_t position = 0;
        PyObject* item = nullptr;
        while (next_set_entry(value, &position, &item)) {
            if (left-- == 0) return item;
        }
        return nullptr;
    }
};

}  // namespace guardtree
