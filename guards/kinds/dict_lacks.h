// dict_lacks: a dict has not got a key.
// SPDX-License-Identifier: MIT
#pragma once
#include "../dict_lookup.h"
#include "../kind.h"

namespace guardtree {

struct DictLacks {
    static constexpr Info info{
        .name = "dict_lacks",
        .summary =
            "A dict or a subclass of dict that has not this key, as "
            "`dict.__contains__` says: an overridden one does not run. Every other "
            "value fails.",
        .python = "is_a(value, dict) and not dict.__contains__(value, key)",
        .calls_python = true,  // a key of a user type may have the same hash
    };
    static constexpr Example examples[] = {
        {"'a'", "{}", "{'a': None}"},
        {"'a'", "{b'a': 1}", "[]"},
        {"1", "type('D', (dict,), {'__contains__': lambda *_: True})()", "{1.0: 0}"}};

    Key key;

    static constexpr auto operands() {
        return std::tuple{operand("key", &DictLacks::key)};
    }

    Verdict check(PyObject* value) const noexcept {
        if (!PyDict_Check(value) || find_in_dict(value, key)) return Verdict::fail;
        return PyErr_Occurred() ? Verdict::error : Verdict::pass;
    }
};

}  // namespace guardtree
