// instance_of: an instance of a type or of a subclass.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/keys.h"

namespace guardtree {

struct InstanceOf {
    static constexpr Info info{
        .name = "instance_of",
        .summary =
            "The value's type is `expected` or a subclass of it, by the MRO: "
            "`__class__`, `__instancecheck__` and ABC registration are not asked. Held "
            "weakly.",
        .python = "is_a(value, expected)",
        .shorthand = "isinstance(value, expected)",
        .is_by_value = true,
    };
    static constexpr Example examples[] = {
        {"int", "True", "1.0"},
        {"dict", "__import__('collections').OrderedDict()", "[]"},
        {"type", "type('M', (type,), {})('C', (), {})", "3"},
        {"BaseException", "ValueError()", "ValueError"}};

    TypeIdentity expected;

    static constexpr auto operands() {
        return std::tuple{operand("expected", &InstanceOf::expected)};
    }

    /// Only for a type whose MRO can never change.
    Known known_by_type(PyTypeObject* type) const noexcept {
        if (!PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE)) return Known::nothing;
        auto* base = reinterpret_cast<PyTypeObject*>(expected.object);
        return known_to(PyType_IsSubtype(type, base));
    }

    void add_keys(std::vector<Keys>& to) const {
        to.push_back({{KeyKind::base}, {address_key(expected.object)}});
    }

    bool check(PyObject* value) const noexcept {
        if (expected.is_dead()) return false;
        return PyType_IsSubtype(Py_TYPE(value),
                                reinterpret_cast<PyTypeObject*>(expected.object));
    }
};

}  // namespace guardtree
