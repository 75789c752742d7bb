// Ops by their names and operands as objects: what text, JSON and inner kinds share.
// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "op.h"

namespace guardtree {

/// An operand of an op, or of one that is still to be made.
struct NamedOperand {
    std::string_view name;
    OperandForm form;
};

/// The operands of a kind, step or relation, in order.
std::span<const NamedOperand> operands_of(OpCode code);

/// What a kind, step or relation says about itself.
inline const Info& info_of(OpCode code) noexcept {
    return *op_infos[static_cast<uint16_t>(code)];
}

/// False when no kind, step or relation has this name.
bool find_op(std::string_view name, OpCode& to);

/// Makes an op of objects for its operands, in order. What they refer to is added to
/// `keep`. False with `problem` filled when they are refused; `to` then means nothing.
bool make_op(OpCode code, std::span<PyObject* const> operands, Op& to, References& keep,
             Diagnostic& problem);

/// make_op for one kind, step or relation that is known when this is compiled.
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

/// The operands as objects that make_op takes, in order: new references. None stands
/// for one that has died. Empty with an exception set when there is no memory, which
/// an op without operands has not.
std::vector<Owned<>> operand_objects(const Op& op);

}  // namespace guardtree
