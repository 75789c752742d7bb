// builtin: a name in the frame's builtins.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/dict_lookup.h"

namespace guardtree {

struct Builtin {
    static constexpr Info info{
        .name = "builtin",
        .summary =
            "The value of a name in the frame's builtins. Fails where there is none.",
        .python = "B[key]",
        .reads = Reads::item,
    };
    static constexpr StepExample examples[] = {{"'len'", "{}", "len", ""}};

    Key key;

    static constexpr auto operands() {
        return std::tuple{operand("key", &Builtin::key)};
    }

    /// The dict that contains the entry.
    static PyObject* dict_of(const View& view) noexcept {
        return view.builtins().get();
    }

    Borrowed<> get(const View& view, Remembered remembered) const noexcept {
        return find_in_dict(view.builtins().get(), key, remembered);
    }
};

}  // namespace guardtree
