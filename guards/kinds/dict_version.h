// dict_version: a dict that has not changed.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/keys.h"
#include "../operands/dict_snapshot.h"

namespace guardtree {

struct DictVersion {
    static constexpr Info info{
        .name = "dict_version",
        .summary =
            "This very dict, and since the guard was built nothing in it was added, "
            "removed, replaced by another object or reordered. What the values hold "
            "may change. The dict, its keys and its values are held. From CPython 3.12 "
            "on the check compares their addresses, one by one. In Python it is told "
            "by the identity of the dict only.",
        .python = "is_unchanged(value, expected)",
        .reads = Reads::entries,
    };
    static constexpr Example examples[] = {
        {"__import__('token').EXACT_TOKEN_TYPES",
         "__import__('token').EXACT_TOKEN_TYPES",
         "dict(__import__('token').EXACT_TOKEN_TYPES)"},
        {"__import__('errno').errorcode", "__import__('errno').errorcode", "None"}};

    DictSnapshot expected;

    static constexpr auto operands() {
        return std::tuple{operand("expected", &DictVersion::expected)};
    }

    void add_keys(std::vector<Keys>& to) const {
        to.push_back({{KeyKind::identity}, {address_key(expected.dict)}});
    }

    bool check(PyObject* value) const noexcept { return expected.matches(value); }
};

}  // namespace guardtree
