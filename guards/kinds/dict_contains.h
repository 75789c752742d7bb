// dict_contains: a dict has a key.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/dict_lookup.h"
#include "../objects/keys.h"

namespace guardtree {

struct DictContains {
    static constexpr Info info{
        .name = "dict_contains",
        .summary =
            "A dict or a subclass of dict that has this key; an overridden "
            "`__contains__` does not run. Every other value fails, and so does a dict "
            "in which a key of a user's type with the same hash would have to be "
            "asked.",
        .python = "dict_has(value, key) is True",
        .shorthand = "key in value",
        .is_by_value = true,
        .reads = Reads::item,
    };
    static constexpr Example examples[] = {
        {"'a'", "{'a': None}", "{}"},
        {"1", "{True: 0}", "[1]"},
        {"'a'", "type('D', (dict,), {'__contains__': lambda *_: False})(a=1)",
         "{b'a': 1}"}};

    Key key;

    static constexpr auto operands() {
        return std::tuple{operand("key", &DictContains::key)};
    }

    void add_keys(std::vector<Keys>& to) const {
        to.push_back({{KeyKind::dict_key}, {static_cast<uint64_t>(key.hash)}});
    }

    bool check(PyObject* value) const noexcept {
        return presence_in_dict(value, key) == Presence::present;
    }
};

}  // namespace guardtree
