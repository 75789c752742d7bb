// one_of: equality with one of several constants.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/constant.h"
#include "../objects/keys.h"

namespace guardtree {

struct OneOf {
    static constexpr Info info{
        .name = "one_of",
        .summary =
            "The value is one of these constants, types included, as equals compares. "
            "Tried one by one, in order.",
        .python = "any(same_constant(value, each) for each in values)",
        .shorthand = "value in values",
        .fact = "value",
        .is_by_value = true,
    };
    static constexpr Example examples[] = {
        {"(1, 'a')", "'a'", "True"},
        {"(0.0, None)", "None", "-0.0"},
        {"((1,), float('nan'))", "float('nan')", "(True,)"},
        {"(2,)", "2", "()"}};

    Constants values;

    static constexpr auto operands() {
        return std::tuple{operand("values", &OneOf::values)};
    }

    void add_keys(std::vector<Keys>& to) const {
        Keys keys{{KeyKind::constant}, {}};
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(values.value); ++i)
            keys.values.push_back(constant_key(PyTuple_GET_ITEM(values.value, i)));
        to.push_back(std::move(keys));
    }

    bool check(PyObject* value) const noexcept {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(values.value); ++i) {
            if (same_constant(value, PyTuple_GET_ITEM(values.value, i))) return true;
        }
        return false;
    }
};

}  // namespace guardtree
