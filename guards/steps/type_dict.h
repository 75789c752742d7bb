// type_dict: the dict of a type.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/attributes.h"
#include "../kind.h"

namespace guardtree {

struct TypeDict {
    static constexpr Info info{
        .name = "type_dict",
        .summary =
            "The dict of a type's own attributes (`vars(value)` without the proxy). A "
            "new reference: CPython 3.12 and later keep those of builtin types "
            "elsewhere.",
        .python = "dict_of_type(value)",
    };
    static constexpr StepExample examples[] = {
        {"", "bool", "dict(vars(bool))", "True"},
        {"", "object", "dict(vars(object))", "{}"}};

    static constexpr auto operands() { return std::tuple{}; }

    Owned<> get(PyObject* value) const noexcept {
        if (!PyType_Check(value)) return {};
        return guardtree::type_dict(reinterpret_cast<PyTypeObject*>(value));
    }
};

}  // namespace guardtree
