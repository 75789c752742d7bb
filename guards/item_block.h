// A run of items of one list or tuple whose exact types are checked together.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <span>

#include "operand.h"

namespace guardtree {

/// One item: where it lies, what its type is to be.
struct BlockItem {
    TypeIdentity type;
    Py_ssize_t index;  ///< from the front
};

/// The operands of an item block. The compiler puts one before the ops that it speaks
/// for: where it passes, they would. An observer that wants to hear of each op walks
/// those instead.
struct ItemBlockOperands {
    uint32_t first = 0;  ///< among the program's block items
    uint32_t count = 0;
    uint32_t longest = 0;  ///< the least length that has them all
    bool is_list = false;  ///< else a tuple
};

/// All items are there and of their types. Half a nanosecond each (bench `item_block`).
inline bool passes(const ItemBlockOperands& block, std::span<const BlockItem> items,
                   PyObject* value) noexcept {
    const unsigned long flag =
        block.is_list ? Py_TPFLAGS_LIST_SUBCLASS : Py_TPFLAGS_TUPLE_SUBCLASS;
    if (!PyType_HasFeature(Py_TYPE(value), flag)) return false;
    if (Py_SIZE(value) < static_cast<Py_ssize_t>(block.longest)) return false;
    PyObject* const* all = block.is_list
                               ? reinterpret_cast<PyListObject*>(value)->ob_item
                               : reinterpret_cast<PyTupleObject*>(value)->ob_item;
    for (const BlockItem& item : items.subspan(block.first, block.count)) {
        if (!item.type.is(reinterpret_cast<PyObject*>(Py_TYPE(all[item.index])))) {
            return false;
        }
    }
    return true;
}

}  // namespace guardtree
