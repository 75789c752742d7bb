// Which of a node's children one op can check together.
// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <vector>

#include "../tree/order.h"

namespace guardtree {

/// What an item block checks; where its rows begin is not set.
struct ItemRun {
    ItemBlockOperands operands;
    std::vector<BlockItem> rows;
    static constexpr bool is_open = false;

    bool pays() const noexcept { return rows.size() >= 2; }
};

/// The same of a name block.
struct NameRun {
    NameBlockOperands operands;
    std::vector<NameRow> rows;
    bool is_open = false;  ///< the last name's value has children
    size_t op_count = 0;   ///< that it speaks for

    /// Two ops are as fast by themselves.
    bool pays() const noexcept { return op_count > 2; }
};

class BlockBuilder {
public:
    /// Keeps references to all three.
    BlockBuilder(const Tree& tree, const TreeOrder& order, PyCodeObject* code)
        : tree_(tree), order_(order), code_(code) {}

    /// The children from `first` on that are items of one list or tuple, or locals,
    /// each with a type match and nothing else.
    ItemRun items(std::span<const NodeId> children, size_t first) const;

    /// The children from `first` on that are names of one instance, one dict or the
    /// globals, each with checks that a row has; below the last one there may be more.
    NameRun names(std::span<const NodeId> children, size_t first) const;

private:
    Py_ssize_t index_of(NodeId child, OpCode step) const;

    bool has_row(NodeId child, NameRow& to) const;

    const Tree& tree_;
    const TreeOrder& order_;
    PyCodeObject* code_;
};

}  // namespace guardtree
