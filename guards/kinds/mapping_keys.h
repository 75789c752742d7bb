// mapping_keys: the keys of any mapping, in order.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/constant.h"

namespace guardtree {

struct MappingKeys {
    static constexpr Info info{
        .name = "mapping_keys",
        .summary =
            "`list(value.keys())` is exactly these constants, types included. An exact "
            "dict runs no user code; for other values `keys` is called, and only its "
            "absence fails: what it raises is an error.",
        .python =
            "hasattr(value, 'keys') and same_constant(tuple(value.keys()), expected)",
        .calls_python = true,
    };
    static constexpr Example examples[] = {
        {"('a', 1)", "{'a': 0, 1: 0}", "{1: 0, 'a': 0}"},
        {"('a',)", "__import__('types').MappingProxyType({'a': 1})",
         "__import__('types').MappingProxyType({})"},
        {"(1,)", "type('M', (), {'keys': lambda self: [1]})()",
         "type('M', (), {'keys': lambda self: [True]})()"},
        {"()", "{}", "[]"}};

    Constants expected;

    static constexpr auto operands() {
        return std::tuple{operand("expected", &MappingKeys::expected)};
    }

    Verdict check(PyObject* value) const noexcept {
        if (PyDict_CheckExact(value))
            return verdict(has_keys_in_order(value, expected.value));
        const auto method = attribute_of(value, "keys");
        if (!method) {
            if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return Verdict::error;
            PyErr_Clear();
            return Verdict::fail;
        }
        const auto keys = Owned<>::steal(PyObject_CallNoArgs(method.get()));
        const auto found =
            Owned<>::steal(keys ? PySequence_Tuple(keys.get()) : nullptr);
        if (!found) return Verdict::error;
        return verdict(same_constant(found.get(), expected.value));
    }

private:
    static Verdict verdict(bool passes) noexcept {
        return passes ? Verdict::pass : Verdict::fail;
    }
};

}  // namespace guardtree
