// range_iterator: the items that a range iterator still has to return.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/keys.h"
#include "../operands/range_operand.h"

namespace guardtree {

struct RangeIterator {
    static constexpr Info info{
        .name = "range_iterator",
        .summary =
            "An iterator of a range that will still give exactly the numbers of "
            "`remaining`. It is not advanced. Iterators of ranges beyond a machine "
            "word fail.",
        .python = "is_left(value, remaining)",
    };
    static constexpr Example examples[] = {
        {"range(3)", "iter(range(3))", "range(3)"},
        {"range(2, 6, 2)", "iter(range(2, 5, 2))", "iter(range(2, 7, 2))"},
        {"range(0)", "iter(range(5, 5))", "iter(range(1))"},
        {"range(1)", "iter(range(0, 9, 10))", "iter([0])"},
        {"range(3, 0, -1)", "iter(range(3, 0, -1))", "iter(range(2**70))"}};

    RangeOperand remaining;

    static constexpr auto operands() {
        return std::tuple{operand("remaining", &RangeIterator::remaining)};
    }

    void add_keys(std::vector<Keys>& to) const {
        uint64_t key = 0;
        if (left_key(remaining.iterator, key)) to.push_back({{KeyKind::left}, {key}});
    }

    bool check(PyObject* value) const noexcept { return remaining.is_left_in(value); }
};

}  // namespace guardtree
