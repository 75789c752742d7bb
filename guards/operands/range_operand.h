// The operand of range_iterator: the range that an iterator still has to return.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "operand.h"

namespace guardtree {

/// A range, with an unused iterator over it to compare iterators with.
struct RangeOperand {
    PyObject* value = nullptr;
    PyObject* iterator = nullptr;

    static constexpr const char* annotation = "range";  // in stubs
    static constexpr const char* expects = "a range of numbers that fit a machine word";
    static bool read(PyObject* from, RangeOperand& to, References& keep,
                     Diagnostic& problem);

    /// Whether the range_iterator `value` still has to return exactly this range.
    bool is_left_in(PyObject* value) const noexcept;
};

bool same(const RangeOperand& a, const RangeOperand& b) noexcept;
size_t hash_of(const RangeOperand& a) noexcept;
std::string text_of(const RangeOperand& a);

inline Owned<> object_of(const RangeOperand& a) noexcept {
    return Owned<>::share(a.value);
}

}  // namespace guardtree
