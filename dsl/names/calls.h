// Finds guards that call code chosen by the author of a text.
// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <concepts>
#include <tuple>

#include "../../guards/concepts/inner_kinds.h"
#include "../../guards/ops/op.h"

namespace guardtree {

/// True for steps that call the value at the end of the path. With such a step, a text
/// could call any function of a module that takes no arguments (`sys.exit`) whenever
/// its guards are checked. Other ops that run user code only request an attribute, an
/// item or a length.
constexpr bool calls_what_it_finds(OpCode code) noexcept {
    return code == code_of<Call>;
}

/// True for a step that calls the value it finds, and for ops with an operand that is
/// code, also inside other kinds. The author of the text chose the code that runs when
/// such a guard is checked. All other ops only run code that the classes of the checked
/// values define: properties, `__getattr__`, `__getitem__`, `__len__`, `__bool__`,
/// `__eq__`, `keys`.
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
