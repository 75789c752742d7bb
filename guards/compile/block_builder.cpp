// Decides which children of a node one op can check together.
// SPDX-License-Identifier: MIT
#include "block_builder.h"

#include <algorithm>
#include <limits>

namespace guardtree {
namespace {

bool has_items(OpCode step) noexcept {
    return step == code_of<Local> || step == code_of<ListItem> ||
           step == code_of<TupleItem>;
}

/// The key that a step looks up in a dict or an instance. Null for other steps.
const Key* key_of(const Op& step, NameBlockOperands::Owner& owner) noexcept {
    using Operands = NameBlockOperands;
    if (step.code() == code_of<InstanceAttr>) {
        owner = Operands::instance;
        return &step.as<InstanceAttr>().name;
    }
    if (step.code() == code_of<DictItem>) {
        owner = Operands::dict;
        return &step.as<DictItem>().key;
    }
    if (step.code() == code_of<Global>) {
        owner = Operands::globals;
        return &step.as<Global>().key;
    }
    return nullptr;
}

bool fits(const Length& length) noexcept {
    return length.expected.value >= 0 &&
           length.expected.value <= std::numeric_limits<int32_t>::max();
}

/// Returns false for kinds that a row cannot express.
bool set_check(const Op& kind, NameRow& row) {
    const auto set = [&](NameRow::Kind of_row, PyObject* expected) {
        row.kind = of_row;
        row.expected = expected;
        return true;
    };
    return dispatch(kind, [&](const auto& concrete) {
        using K = std::remove_cvref_t<decltype(concrete)>;
        if constexpr (HasOnlyObject<K>) {
            return set(NameRow::object, concrete.only_object());
        } else if constexpr (std::same_as<K, TypeMatch>) {
            // A weak reference would need another word.
            return !concrete.expected.weak &&
                   set(NameRow::type, concrete.expected.object);
        } else if constexpr (std::same_as<K, Equals>) {
            return set(NameRow::constant, concrete.expected.value);
        } else if constexpr (std::same_as<K, Length>) {
            row.expected_length = static_cast<int32_t>(concrete.expected.value);
            return fits(concrete) && set(NameRow::length, as_object(&PyODict_Type));
        } else {
            return false;
        }
    });
}

bool set_dict_of_length(const Op& type, const Op& length, NameRow& row) {
    if (type.code() != code_of<TypeMatch> || length.code() != code_of<Length>)
        return false;
    row.kind = NameRow::type;
    row.expected = as_object(&PyDict_Type);
    row.expected_length = static_cast<int32_t>(length.as<Length>().expected.value);
    return type.as<TypeMatch>().exact_type() == &PyDict_Type &&
           fits(length.as<Length>());
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
    if (check.next != node.last_check || check.kind.code() != code_of<TypeMatch>) {
        return -1;
    }
    if (step == code_of<Local>) {
        return find_slot(code_, node.step.as<Local>().name.value);
    }
    const Py_ssize_t index = step == code_of<ListItem>
                                 ? node.step.as<ListItem>().index.value
                                 : node.step.as<TupleItem>().index.value;
    return index < std::numeric_limits<int32_t>::max() ? index : -1;
}

ItemRun BlockBuilder::items(std::span<const NodeId> children, size_t first) const {
    ItemRun run;
    const OpCode step = tree_.node(children[first]).step.code();
    if (!has_items(step)) return run;
    if (step == code_of<ListItem>) run.operands.place = ItemBlockOperands::list;
    if (step == code_of<TupleItem>) run.operands.place = ItemBlockOperands::tuple;
    for (const NodeId child : children.subspan(first)) {
        const Py_ssize_t index = index_of(child, step);
        if (index < 0) break;
        const Op& kind = tree_.check_at(tree_.node(child).last_check).kind;
        run.rows.push_back({kind.as<TypeMatch>().expected, index});
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
    case 0: to.kind = NameRow::any; return tree_.node(child).last_child != no_id;
    case 1: return set_check(kind(0), to);
    case 2: return set_dict_of_length(kind(0), kind(1), to);
    default: return false;
    }
}

NameRun BlockBuilder::names(std::span<const NodeId> children, size_t first) const {
    NameRun run;
    for (size_t i = first; i < children.size() && !run.is_open; ++i) {
        const Node& node = tree_.node(children[i]);
        NameBlockOperands::Owner owner{};
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
