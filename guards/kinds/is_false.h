// is_false: identity with False.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/keys.h"

namespace guardtree {

struct IsFalse {
    static constexpr Info info{
        .name = "is_false",
        .summary = "The value is False itself; other false values fail.",
        .python = "value is False",
        .fact = "value",
        .is_by_value = true,
        .is_leaf = true,
        .reads = Reads::identity,
    };
    static constexpr Example examples[] = {{"", "False", "0"}};

    static constexpr auto operands() { return std::tuple{}; }

    PyTypeObject* exact_type() const noexcept { return &PyBool_Type; }

    static PyObject* only_object() noexcept { return Py_False; }

    static PyObject* only_constant() noexcept { return Py_False; }

    void add_keys(std::vector<Keys>& to) const {
        to.push_back({{KeyKind::identity}, {address_key(Py_False)}});
    }

    bool check(PyObject* value) const noexcept { return value == Py_False; }
};

}  // namespace guardtree
