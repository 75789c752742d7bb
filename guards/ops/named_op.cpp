// Finds and makes ops by name.
// SPDX-License-Identifier: MIT
#include "named_op.h"

#include "../../framelocals/compiler.h"
#include "../../framelocals/no_memory.h"

#include <array>

namespace guardtree {
namespace {

template <class T>
constexpr auto named_operands = std::apply(
    []<class... Members>(const Operand<Members, T>&... each) {
        return std::array<NamedOperand, sizeof...(each)>{
            NamedOperand{each.name, form_of<Members>}...};
    },
    T::operands());

}  // namespace

#define X(type, stem) template OpMaker make_op_as<type>;
GUARDTREE_OPS(X)
#undef X

std::span<const NamedOperand> operands_of(OpCode code) {
    switch (code) {
#define X(type, stem) \
    case OpCode::type: return named_operands<type>;
        GUARDTREE_OPS(X)
#undef X
    default: break;
    }
    return {};
}

bool find_op(std::string_view name, OpCode& to) {
    for (size_t i = 0; i < std::size(op_infos); ++i) {
        if (op_infos[i]->name != name) continue;
        to = static_cast<OpCode>(i);
        return true;
    }
    return false;
}

bool make_op(OpCode code, std::span<PyObject* const> operands, Op& to, References& keep,
             Diagnostic& problem) {
    switch (code) {
#define X(type, stem) \
    case OpCode::type: return make_op_as<type>(operands, to, keep, problem);
        GUARDTREE_OPS(X)
#undef X
    default: break;
    }
    unreachable();
}

std::vector<Owned<>> operand_objects(const Op& op) {
    std::vector<Owned<>> objects;
    dispatch(op, [&](const auto& concrete) {
        std::apply(
            [&](const auto&... each) {
                (objects.push_back(object_of(concrete.*each.member)), ...);
            },
            concrete.operands());
    });
    for (const Owned<>& object : objects) {
        if (object) continue;
        drop_exception();
        return {};
    }
    return objects;
}

}  // namespace guardtree
