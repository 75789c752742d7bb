// Guards that call what the author of a text chose.
// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <concepts>
#include <tuple>

#include "../../guards/concepts/inner_kinds.h"
#include "../../guards/ops/op.h"

namespace guardtree {

/// True for steps whose meaning is chosen by the path before them: a text could call
/// any function without arguments that a module has (`sys.exit`) whenever its guards
/// are checked. What else runs user code asks an attribute, an item or a length.
constexpr bool calls_what_it_finds(OpCode code) noexcept {
    return code == code_of<Call>;
}

/// True for a step that calls what it finds, and for ops with an operand that is code,
/// also inside of other kinds: whoever wrote the text chose what runs when the guard
/// is checked. Of all other ops only what the classes of the checked values define may
/// run: properties, `__getattr__`, `__getitem__`, `__len__`, `__bool__`, `__eq__`,
/// `keys`.
inline bool calls_chosen_code(const Op& op) {
    if (calls_what_it_finds(op.code())) return true;
    const auto is_code = []<class Value>(const Value& operand) {
        if constexpr (std::derived_from<Value, InnerKinds>)
            return std::ranges::any_of(operand.ops(), calls_chosen_code);
        else
            return form_of<Value> == OperandForm::code;
    };
    return dispatch(op, [&]<class T>(const T& concrete) {
        return std::apply(
            [&](const auto&... each) {
                return (is_code(concrete.*each.member) || ... || false);
            },
            T::operands());
    });
}

}  // namespace guardtree
