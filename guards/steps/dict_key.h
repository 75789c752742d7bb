// dict_key: a key of a dict by position.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/dict_lookup.h"

namespace guardtree {

struct DictKey {
    static constexpr Info info{
        .name = "dict_key",
        .summary =
            "A key of a dict or a subclass by its place in the dict's order; negative "
            "counts from the end. Overridden methods, and an OrderedDict's own order, "
            "do not count. Linear where keys were deleted.",
        .python = "list(dict.keys(value))[position]",
        .reads = Reads::keys,
    };
    static constexpr StepExample examples[] = {{"0", "{'a': 1}", "'a'", "{}"},
                                               {"-1", "{'a': 1, 2: 3}", "2", "[2]"}};

    Index position;

    static constexpr auto operands() {
        return std::tuple{operand("position", &DictKey::position)};
    }

    Borrowed<> get(PyObject* value) const noexcept {
        return dict_entry_at(value, position.value).key;
    }
};

}  // namespace guardtree
