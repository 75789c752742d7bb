// mro: the method resolution order of a type.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct Mro {
    static constexpr Info info{
        .name = "mro",
        .summary =
            "The tuple of types that a type's attributes are looked up in, itself "
            "first.",
        .python = "mro_of(value)",
    };
    static constexpr StepExample examples[] = {
        {"", "bool", "(bool, int, object)", "True"},
        {"", "type", "(type, object)", "None"}};

    static constexpr auto operands() { return std::tuple{}; }

    Borrowed<> get(PyObject* value) const noexcept {
        if (!PyType_Check(value)) return nullptr;
        return reinterpret_cast<PyTypeObject*>(value)->tp_mro;
    }
};

}  // namespace guardtree
