// Decides which children of a node one op can check together.
// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <vector>

#include "../tree/order.h"

namespace guardtree {

/// The checks of an item block. operands.first is not set yet.
struct ItemRun {
    ItemBlockOperands operands;
    std::vector<BlockItem> rows;
    static constexpr bool is_open = false;

    bool pays() const noexcept { return rows.size() >= 2; }
};

/// The checks of a name block.
struct NameRun {
    NameBlockOperands operands;
    std::vector<NameRow> rows;
    bool is_open = false;  ///< the value of the last name has children
    size_t op_count = 0;   ///< ops that it covers

    /// Two ops are as fast without a block.
    bool pays() const noexcept { return op_count > 2; }
};

class BlockBuilder {
public:
    /// Keeps references to all three arguments.
    BlockBuilder(const Tree& tree, const TreeOrder& order, PyCodeObject* code)
        : tree_(tree), order_(order), code_(code) {}

    /// The children, starting with `first`, that are items of one list or tuple, or
    /// locals, and that have a type match and nothing else.
    ItemRun items(std::span<const NodeId> children, size_t first) const;

    /// The children, starting with `first`, that are names of one instance, one dict or
    /// the globals, and whose checks a row can express. The last one may have children.
    NameRun names(std::span<const NodeId> children, size_t first) const;

private:
    Py_ssize_t index_of(NodeId child, OpCode step) const;

    bool has_row(NodeId child, NameRow& to) const;

    const Tree& tree_;
    const TreeOrder& order_;
    PyCodeObject* code_;
};

}  // namespace guardtree
