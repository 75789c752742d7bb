// dict_key_set: the keys of a dict, in any order.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/constant.h"
#include "../objects/keys.h"

namespace guardtree {

struct DictKeySet {
    static constexpr Info info{
        .name = "dict_key_set",
        .summary =
            "A dict or a subclass of dict whose keys are exactly these constants in "
            "any order (types included). Looked at as a dict.",
        .python =
            "is_a(value, dict) and same_constant(frozenset(dict.keys(value)), "
            "expected)",
        .is_by_value = true,
        .reads = Reads::keys,
    };
    static constexpr Example examples[] = {
        {"{'a', 1}", "{1: 0, 'a': 0}", "{True: 0, 'a': 0}"},
        {"set()", "{}", "set()"},
        {"frozenset({'a'})", "__import__('collections').OrderedDict(a=1)",
         "{'a': 1, 'b': 2}"}};

    ConstantSet expected;

    static constexpr auto operands() {
        return std::tuple{operand("expected", &DictKeySet::expected)};
    }

    void add_keys(std::vector<Keys>& to) const {
        uint64_t key = 0;
        if (members_key(expected.value, key)) to.push_back({{KeyKind::members}, {key}});
    }

    bool check(PyObject* value) const noexcept {
        return has_keys(value, expected.value);
    }
};

}  // namespace guardtree
