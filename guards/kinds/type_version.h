// type_version: a type that has not changed.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/keys.h"
#include "../operands/versioned_type.h"

namespace guardtree {

struct TypeVersion {
    static constexpr Info info{
        .name = "type_version",
        .summary =
            "This very type, and since the guard was built no attribute and no base of "
            "it was changed, in it or in what it inherits from: CPython's version tag "
            "is the same. (It does not cover the metatype, nor `__name__` from 3.13 "
            "on.) Held weakly. A type that cannot have a tag any more is refused. In "
            "Python it is told by its identity only.",
        .python = "value is expected",
        .is_leaf = true,
    };
    static constexpr Example examples[] = {{"int", "int", "bool"},
                                           {"Exception", "Exception", "Exception()"}};

    VersionedType expected;

    static constexpr auto operands() {
        return std::tuple{operand("expected", &TypeVersion::expected)};
    }

    void add_keys(std::vector<Keys>& to) const {
        to.push_back({{KeyKind::identity}, {address_key(expected.weak->wr_object)}});
    }

    bool check(PyObject* value) const noexcept { return expected.matches(value); }
};

}  // namespace guardtree
