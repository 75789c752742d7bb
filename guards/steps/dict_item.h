// dict_item: the value of a key in a dict, ignoring overrides of a subclass.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/dict_lookup.h"

namespace guardtree {

struct DictItem {
    static constexpr Info info{
        .name = "dict_item",
        .summary =
            "The value of a key in a dict or a subclass of dict; overridden "
            "`__getitem__` and `__missing__` do not run. Fetches nothing where a key "
            "of a user's type with the same hash would have to be asked.",
        .python = "dict_item(value, key)",
        .reads = Reads::item,
    };
    static constexpr StepExample examples[] = {{"'a'", "{'a': 1}", "1", "{}"},
                                               {"'a'", "{2: 3, 'a': 1}", "1", "{2: 3}"},
                                               {"1", "{1.0: 'x'}", "'x'", "{2: 3}"},
                                               {"(1, 2)", "{(1, 2): 3}", "3", "[]"}};

    Key key;

    static constexpr auto operands() {
        return std::tuple{operand("key", &DictItem::key)};
    }

    static constexpr NameOwner name_owner = NameOwner::dict;

    const Key& key_found() const noexcept { return key; }

    Borrowed<> get(PyObject* value, Remembered remembered) const noexcept {
        return find_in_dict(value, key, remembered);
    }
};

}  // namespace guardtree
