// dict_keys: the keys of a dict, in order.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/constant.h"
#include "../objects/keys.h"

namespace guardtree {

struct DictKeys {
    static constexpr Info info{
        .name = "dict_keys",
        .summary =
            "A dict or a subclass of dict whose keys are exactly these constants in "
            "this order (types included, as equals compares). Looked at as a dict: an "
            "OrderedDict's own order and overridden methods do not count.",
        .python =
            "is_a(value, dict) and same_constant(tuple(dict.keys(value)), expected)",
        .reads = Reads::keys,
    };
    static constexpr Example examples[] = {
        {"('a', 1)", "{'a': 0, 1: 0}", "{1: 0, 'a': 0}"},
        {"(1,)", "{1: 0}", "{True: 0}"},
        {"()", "{}", "[]"},
        {"('a',)", "type('D', (dict,), {'keys': None})(a=1)", "{'a': 1, 'b': 2}"}};

    Constants expected;

    static constexpr auto operands() {
        return std::tuple{operand("expected", &DictKeys::expected)};
    }

    void add_keys(std::vector<Keys>& to) const {
        PyObject* const* keys = PySequence_Fast_ITEMS(expected.value);
        const auto count = static_cast<size_t>(PyTuple_GET_SIZE(expected.value));
        uint64_t key = 0;
        if (members_key_of({keys, count}, key))
            to.push_back({{KeyKind::members}, {key}});
    }

    bool check(PyObject* value) const noexcept {
        return has_keys_in_order(value, expected.value);
    }
};

}  // namespace guardtree
