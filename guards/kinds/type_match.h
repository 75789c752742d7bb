// type_match: exact type.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/keys.h"

namespace guardtree {

struct TypeMatch {
    static constexpr Info info{
        .name = "type_match",
        .summary = "The value's type is exactly `expected`; subclasses fail.",
        .python = "type(value) is expected",
        .fact = "type(value)",
        .is_by_value = true,
        .is_leaf = true,
        .reads = Reads::type,
    };
    static constexpr Example examples[] = {
        {"int", "1", "True"}, {"dict", "{}", "[]"}, {"type(None)", "None", "0"}};

    TypeIdentity expected;

    static constexpr auto operands() {
        return std::tuple{operand("expected", &TypeMatch::expected)};
    }

    PyTypeObject* exact_type() const noexcept {
        return reinterpret_cast<PyTypeObject*>(expected.object);
    }

    const TypeIdentity& compared_type() const noexcept { return expected; }

    Known known_by_type(PyTypeObject* type) const noexcept {
        return known_to(expected.object == as_object(type));
    }

    void add_keys(std::vector<Keys>& to) const {
        to.push_back({{KeyKind::type}, {address_key(expected.object)}});
    }

    bool check(PyObject* value) const noexcept {
        return expected.is(as_object(Py_TYPE(value)));
    }
};

}  // namespace guardtree
