// dict_lacks: a dict does not have a key.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/dict_lookup.h"

namespace guardtree {

struct DictLacks {
    static constexpr Info info{
        .name = "dict_lacks",
        .summary =
            "A dict or a subclass of dict that has not this key; an overridden "
            "`__contains__` does not run. Every other value fails, and so does a dict "
            "in which a key of a user's type with the same hash would have to be "
            "asked.",
        .python = "dict_has(value, key) is False",
        .shorthand = "key not in value",
        .is_by_value = true,
        .reads = Reads::item,
    };
    static constexpr Example examples[] = {
        {"'a'", "{}", "{'a': None}"},
        {"'a'", "{b'a': 1}", "[]"},
        {"1", "type('D', (dict,), {'__contains__': lambda *_: True})()", "{1.0: 0}"}};

    Key key;

    static constexpr auto operands() {
        return std::tuple{operand("key", &DictLacks::key)};
    }

    bool check(PyObject* value) const noexcept {
        return presence_in_dict(value, key) == Presence::absent;
    }
};

}  // namespace guardtree
