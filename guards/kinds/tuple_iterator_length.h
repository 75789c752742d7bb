// tuple_iterator_length: the number of items that a tuple iterator still has to return.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/iterators.h"
#include "../concepts/kind.h"
#include "../objects/keys.h"

namespace guardtree {

struct TupleIteratorLength {
    static constexpr Info info{
        .name = "tuple_iterator_length",
        .summary =
            "An iterator of a tuple with this many items left. It is not advanced.",
        .python = "type(value) is tuple_iterator and len(left_of(value)) == expected",
    };
    static constexpr Example examples[] = {{"2", "iter((1, 2))", "iter((1,))"},
                                           {"0", "iter(())", "()"},
                                           {"1", "iter((None,))", "iter([1])"}};

    Count expected;

    static constexpr auto operands() {
        return std::tuple{operand("expected", &TupleIteratorLength::expected)};
    }

    void add_keys(std::vector<Keys>& to) const {
        to.push_back({{KeyKind::left}, {static_cast<uint64_t>(expected.value)}});
    }

    bool check(PyObject* value) const noexcept {
        TupleLeft left;
        return read_tuple_iterator(value, left) && left.length == expected.value;
    }
};

}  // namespace guardtree
