// is_true: identity with True.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/keys.h"

namespace guardtree {

struct IsTrue {
    static constexpr Info info{
        .name = "is_true",
        .summary = "The value is True itself; other true values fail.",
        .python = "value is True",
        .fact = "value",
        .is_by_value = true,
        .is_leaf = true,
        .reads = Reads::identity,
    };
    static constexpr Example examples[] = {{"", "True", "1"}};

    static constexpr auto operands() { return std::tuple{}; }

    PyTypeObject* exact_type() const noexcept { return &PyBool_Type; }

    static PyObject* only_object() noexcept { return Py_True; }

    static PyObject* only_constant() noexcept { return Py_True; }

    void add_keys(std::vector<Keys>& to) const {
        to.push_back({{KeyKind::identity}, {address_key(Py_True)}});
    }

    bool check(PyObject* value) const noexcept { return value == Py_True; }
};

}  // namespace guardtree
