// Ranges as operands.
// SPDX-License-Identifier: MIT
#include "range_operand.h"

#include "../../framelocals/iterators.h"
#include "../../framelocals/no_memory.h"

namespace guardtree {

bool RangeOperand::read(PyObject* from, RangeOperand& to, References& keep,
                        Diagnostic& problem) {
    if (Py_TYPE(from) != &PyRange_Type) {
        refuse_operand(problem, expects, from);
        return false;
    }
    auto iterator = Owned<>::steal(PyObject_GetIter(from));
    RangeLeft left;
    if (!iterator || !read_range_iterator(iterator.get(), left)) {
        drop_exception();
        problem = {PyExc_OverflowError,
                   "expected " + std::string(expects) + ", found " + short_repr(from)};
        return false;
    }
    to = {from, iterator.get()};
    keep.push_back(Owned<>::share(from));
    keep.push_back(std::move(iterator));
    return true;
}

bool RangeOperand::is_left_in(PyObject* other) const noexcept {
    RangeLeft expected;
    RangeLeft found;
    if (!read_range_iterator(other, found)) return false;
    read_range_iterator(iterator, expected);
    if (found.length <= 0 || expected.length <= 0) {
        return found.length <= 0 && expected.length <= 0;
    }
    // Like the comparison of ranges: the step does not matter for a single number.
    return found.length == expected.length && found.start == expected.start &&
           (found.length == 1 || found.step == expected.step);
}

bool same(const RangeOperand& a, const RangeOperand& b) noexcept {
    return a.is_left_in(b.iterator);
}

size_t hash_of(const RangeOperand& a) noexcept {
    RangeLeft left;
    read_range_iterator(a.iterator, left);
    return static_cast<size_t>(left.length);
}

std::string text_of(const RangeOperand& a) {
    return short_repr(a.value);
}

}  // namespace guardtree
