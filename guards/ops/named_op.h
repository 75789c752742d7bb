// Makes ops from names and objects, for text, JSON and inner kinds.
// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "op.h"

namespace guardtree {

/// The name and form of an operand of some kind, step or relation.
struct NamedOperand {
    std::string_view name;
    OperandForm form;
};

/// The operands of a kind, step or relation, in order.
std::span<const NamedOperand> operands_of(OpCode code);

/// The description of a kind, step or relation.
inline const Info& info_of(OpCode code) noexcept {
    return *op_infos[static_cast<uint16_t>(code)];
}

/// Finds the op with this name. Returns false if there is none.
bool find_op(std::string_view name, OpCode& to);

/// Makes an op from objects for its operands, in order. Adds the objects that they
/// refer to to `keep`. Returns false and fills `problem` if an object is refused; `to`
/// is then meaningless.
bool make_op(OpCode code, std::span<PyObject* const> operands, Op& to, References& keep,
             Diagnostic& problem);

/// make_op for a kind, step or relation that is known at compile time.
template <Described T>
bool make_op_as(std::span<PyObject* const> operands, Op& to, References& keep,
                Diagnostic& problem) {
    to = Op(T{});
    return read_operands(operands, to.as<T>(), keep, problem);
}

using OpMaker = bool(std::span<PyObject* const> operands, Op& to, References& keep,
                     Diagnostic& problem);

#define X(type, stem) extern template OpMaker make_op_as<type>;
GUARDTREE_OPS(X)
#undef X

/// The operands as objects that make_op accepts, in order, as new references. None
/// stands for an object that has died. If there is no memory, the result is empty and
/// an exception is set. An op without operands never fails.
std::vector<Owned<>> operand_objects(const Op& op);

}  // namespace guardtree
