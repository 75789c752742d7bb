// slot: the content of a slot.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/static_attribute.h"

namespace guardtree {

struct Slot {
    static constexpr Info info{
        .name = "slot",
        .summary =
            "What a slot (`__slots__`, or an object field of a C type) holds, without "
            "user code. Fetches nothing from an empty one, or where the type has "
            "something else of that name.",
        .python = "slot_value(value, name)",
    };
    static constexpr StepExample examples[] = {
        {"'start'", "slice(3, 4)", "3", "3"},
        {"'a'",
         "type('C', (), {'__slots__': 'a', '__init__': lambda self: setattr(self, 'a', "
         "5)})()",
         "5", "type('C', (), {'__slots__': 'a'})()"}};

    Text name;

    static constexpr auto operands() {
        return std::tuple{operand("name", &Slot::name)};
    }

    Borrowed<> get(PyObject* value) const noexcept {
        const Borrowed<> found = find_in_mro(Py_TYPE(value), name.value);
        return found ? slot_content(found.get(), value).content : nullptr;
    }
};

}  // namespace guardtree
