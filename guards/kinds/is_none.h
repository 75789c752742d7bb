// is_none: identity with None.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/keys.h"

namespace guardtree {

struct IsNone {
    static constexpr Info info{
        .name = "is_none",
        .summary = "The value is None.",
        .python = "value is None",
        .fact = "value",
        .is_by_value = true,
        .is_leaf = true,
        .reads = Reads::identity,
    };
    static constexpr Example examples[] = {{"", "None", "0"}};

    static constexpr auto operands() { return std::tuple{}; }

    PyTypeObject* exact_type() const noexcept { return Py_TYPE(Py_None); }

    static PyObject* only_object() noexcept { return Py_None; }

    static PyObject* only_constant() noexcept { return Py_None; }

    void add_keys(std::vector<Keys>& to) const {
        to.push_back({{KeyKind::identity}, {address_key(Py_None)}});
    }

    bool check(PyObject* value) const noexcept { return value == Py_None; }
};

}  // namespace guardtree
