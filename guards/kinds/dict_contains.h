// dict_contains: a dict has got a key.
// SPDX-License-Identifier: MIT
#pragma once
#include "../dict_lookup.h"
#include "../kind.h"

namespace guardtree {

struct DictContains {
    static constexpr Info info{
        .name = "dict_contains",
        .summary =
            "A dict or a subclass of dict that has this key, as `dict.__contains__` "
            "says: an overridden one does not run. Every other value fails.",
        .python = "is_a(value, dict) and dict.__contains__(value, key)",
        .calls_python = true,  // a key of a user type may have the same hash
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

    Verdict check(PyObject* value) const noexcept {
        if (find_in_dict(value, key)) return Verdict::pass;
        return PyErr_Occurred() ? Verdict::error : Verdict::fail;
    }
};

}  // namespace guardtree
