// dict_item: the value of a key in a dict, whatever a subclass overrides.
// SPDX-License-Identifier: MIT
#pragma once
#include "../dict_lookup.h"
#include "../kind.h"

namespace guardtree {

struct DictItem {
    static constexpr Info info{
        .name = "dict_item",
        .summary =
            "The value of a key in a dict or a subclass of dict; overridden "
            "`__getitem__` and `__missing__` do not run.",
        .python = "plain_dict_item(value, key)",
        .calls_python = true,  // a key of a user type may have the same hash
    };
    static constexpr StepExample examples[] = {{"'a'", "{'a': 1}", "1", "{}"},
                                               {"(1, 2)", "{(1, 2): 3}", "3", "[]"}};

    Key key;

    static constexpr auto operands() {
        return std::tuple{operand("key", &DictItem::key)};
    }

    Borrowed<> get(PyObject* value) const noexcept { return find_in_dict(value, key); }
};

}  // namespace guardtree
