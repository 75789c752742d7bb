// type_dict: the dict of a type.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/attributes.h"
#include "../concepts/kind.h"

namespace guardtree {

struct TypeDict {
    static constexpr Info info{
        .name = "type_dict",
        .summary =
            "The dict of a type's own attributes (`vars(value)` without the proxy).",
        .python = "dict_of_type(value)",
        .reads = Reads::identity,
    };
    static constexpr StepExample examples[] = {
        {"", "bool", "dict(vars(bool))", "True"},
        {"", "object", "dict(vars(object))", "{}"}};

    static constexpr auto operands() { return std::tuple{}; }

    /// Borrowed from the type, or from the interpreter (builtin types from 3.12 on).
    Borrowed<> get(PyObject* value) const noexcept {
        if (!PyType_Check(value)) return nullptr;
        return guardtree::type_dict(reinterpret_cast<PyTypeObject*>(value)).get();
    }
};

}  // namespace guardtree
