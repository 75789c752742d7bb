// dict_value: a value of a dict by position.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/dict_lookup.h"

namespace guardtree {

struct DictValue {
    static constexpr Info info{
        .name = "dict_value",
        .summary =
            "A value of a dict or a subclass by its place in the dict's order; "
            "negative counts from the end. Overridden methods, and an OrderedDict's "
            "own order, do not count. Linear where keys were deleted. With dict_key "
            "it guards a dict by order.",
        .python = "list(dict.values(value))[position]",
        .reads = Reads::entries,
    };
    static constexpr StepExample examples[] = {{"0", "{'a': 1}", "1", "{}"},
                                               {"-1", "{'a': 1, 2: 3}", "3", "[2]"}};

    Index position;

    static constexpr auto operands() {
        return std::tuple{operand("position", &DictValue::position)};
    }

    Borrowed<> get(PyObject* value) const noexcept {
        return dict_entry_at(value, position.value).value;
    }
};

}  // namespace guardtree
