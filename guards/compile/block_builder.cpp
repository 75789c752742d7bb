// Decides which children of a node one op can check together.
// SPDX-License-Identifier: MIT
#include "block_builder.h"

#include <algorithm>
#include <limits>

namespace guardtree {
namespace {

/// The key that a step looks up in a dict or an instance. Null for other steps.
const Key* key_of(const Op& step, NameOwner& owner) noexcept {
    return dispatch(step, [&]<class S>(const S& concrete) -> const Key* {
        if constexpr (FindsName<S>) {
            owner = S::name_owner;
            return &concrete.key_found();
        }
        return nullptr;
    });
}

/// The type that a kind compares with, and nothing else. Null for other kinds.
const TypeIdentity* type_of(const Op& kind) noexcept {
    return dispatch(kind, [&]<class K>(const K& concrete) -> const TypeIdentity* {
        if constexpr (ComparesType<K>) return &concrete.compared_type();
        return nullptr;
    });
}

/// The same for a length. Returns false if a row has no room for it.
bool read_length(const Op& kind, int32_t& to) noexcept {
    return dispatch(kind, [&]<class K>(const K& concrete) {
        if constexpr (ComparesLength<K>) {
            const Py_ssize_t length = concrete.compared_length();
            to = static_cast<int32_t>(length);
            return length >= 0 && length <= std::numeric_limits<int32_t>::max();
        }
        return false;
    });
}

/// An object that this kind always passes: a value that is this object needs no other
/// check. Null for kinds that name no such object.
PyObject* object_of(const Op& kind) noexcept {
    return dispatch(kind, [&]<class K>(const K& concrete) -> PyObject* {
        if constexpr (HasOnlyObject<K>)
            return concrete.only_object();
        else if constexpr (HasOnlyConstant<K>)
            return concrete.only_constant();
        else
            return nullptr;
    });
}

/// Returns false for kinds that a row cannot express.
bool set_check(const Op& kind, NameRow& row) {
    row.check_count = 1;
    if (PyObject* const object = object_of(kind)) {
        row.sure = NameRow::identity;
        row.expected = object;
        return true;
    }
    if (const TypeIdentity* const type = type_of(kind)) {
        row.sure = NameRow::type;
        row.expected = type->object;
        return !type->weak;  // a weak reference would need another word
    }
    row.sure = NameRow::length;
    row.expected = as_object(&PyODict_Type);
    return read_length(kind, row.expected_length);
}

bool set_dict_of_length(const Op& type, const Op& length, NameRow& row) {
    const TypeIdentity* const expected = type_of(type);
    if (!expected || expected->object != as_object(&PyDict_Type)) return false;
    row.check_count = 2;
    row.sure = NameRow::type;
    row.expected = expected->object;
    return read_length(length, row.expected_length);
}

}  // namespace

Py_ssize_t BlockBuilder::index_of(NodeId child, OpCode step) const {
    const Node& node = tree_.node(child);
    if (node.step.code() != step || node.last_child != no_id ||
        node.last_check == no_id || order_.is_related(child) ||
        order_.is_captured(child)) {
        return -1;
    }
    const Check& check = tree_.check_at(node.last_check);
    if (check.next != node.last_check || !type_of(check.kind)) return -1;
    const Py_ssize_t index = dispatch(node.step, [&]<class S>(const S& concrete) {
        if constexpr (FindsItem<S>) return concrete.index_in(code_);
        return Py_ssize_t{-1};
    });
    return index < std::numeric_limits<int32_t>::max() ? index : -1;
}

ItemRun BlockBuilder::items(std::span<const NodeId> children, size_t first) const {
    ItemRun run;
    const Op& step = tree_.node(children[first]).step;
    dispatch(step, [&]<class S>(const S&) {
        if constexpr (FindsItem<S>) run.operands.owner = S::item_owner;
    });
    for (const NodeId child : children.subspan(first)) {
        const Py_ssize_t index = index_of(child, step.code());
        if (index < 0) break;
        const Op& kind = tree_.check_at(tree_.node(child).last_check).kind;
        run.rows.push_back({*type_of(kind), index});
        run.operands.longest =
            std::max(run.operands.longest, static_cast<uint32_t>(index + 1));
    }
    return run;
}

bool BlockBuilder::has_row(NodeId child, NameRow& to) const {
    if (order_.is_related(child) || order_.is_captured(child)) return false;
    const std::vector<CheckId> checks = order_.checks(child);
    const auto kind = [&](size_t i) -> const Op& {
        return tree_.check_at(checks[i]).kind;
    };
    switch (checks.size()) {
    case 0: to.sure = NameRow::existence; return tree_.node(child).last_child != no_id;
    case 1: return set_check(kind(0), to);
    case 2: return set_dict_of_length(kind(0), kind(1), to);
    default: return false;
    }
}

NameRun BlockBuilder::names(std::span<const NodeId> children, size_t first) const {
    NameRun run;
    for (size_t i = first; i < children.size() && !run.is_open; ++i) {
        const Node& node = tree_.node(children[i]);
        NameOwner owner{};
        const Key* key = key_of(node.step, owner);
        if (!key || !PyUnicode_CheckExact(key->value)) break;
        if (!run.rows.empty() && owner != run.operands.owner) break;
        NameRow row;
        if (!order_.is_useful(children[i]) || !has_row(children[i], row)) break;
        row.name = key->value;
        run.operands.owner = owner;
        run.rows.push_back(row);
        run.is_open = node.last_child != no_id;
        run.op_count += 1 + order_.checks(children[i]).size();
    }
    run.operands.hands_on_last = run.is_open;
    return run;
}

}  // namespace guardtree
