// global: a name in the frame's globals.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/dict_lookup.h"

namespace guardtree {

struct Global {
    static constexpr Info info{
        .name = "global",
        .summary =
            "The value of a name in the frame's globals. Fails where there is none.",
        .python = "G[key]",
        .reads = Reads::item,
    };
    static constexpr StepExample examples[] = {{"'FLAG'", "{}", "True", ""}};

    Key key;

    static constexpr auto operands() {
        return std::tuple{operand("key", &Global::key)};
    }

    /// The dict that contains the entry.
    static PyObject* dict_of(const View& view) noexcept { return view.globals().get(); }

    static constexpr NameOwner name_owner = NameOwner::globals;

    const Key& key_found() const noexcept { return key; }

    Borrowed<> get(const View& view, Remembered remembered) const noexcept {
        return find_in_dict(view.globals().get(), key, remembered);
    }
};

}  // namespace guardtree
