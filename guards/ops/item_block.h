// A group of values of one container (a frame's slots, a list, a tuple) whose exact
// types one op checks together.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <span>

#include "../../framelocals/views/view.h"
#include "../concepts/hooks.h"

namespace guardtree {

/// One value: its index and its expected type.
struct BlockItem {
    TypeIdentity type;
    Py_ssize_t index;  ///< of a slot, or from the front of the list or tuple
};

/// The operands of an item block. The compiler puts the block before the ops that it
/// covers. If the block passes, so would they. An observer that follows each op walks
/// those ops instead.
struct ItemBlockOperands {
    uint32_t first = 0;  ///< index into the program's block items
    uint32_t count = 0;
    /// the minimum length of a list or tuple that contains all of them
    uint32_t longest = 0;
    ItemOwner owner = ItemOwner::slots;
};

/// Whether all slots are bound to values of the expected types. About 0.7 ns each
/// (bench `slope`).
inline bool slots_pass(std::span<const BlockItem> items, const SlotWord* all) noexcept {
#pragma GCC unroll 4
    for (const BlockItem& item : items) {
        PyObject* value = slot_object(all[item.index]);
        if (!value || !item.type.is(as_object(Py_TYPE(value)))) return false;
    }
    return true;
}

/// Whether all items exist and have the expected types. About 0.6 ns each (bench
/// `slope`).
inline bool items_pass(const ItemBlockOperands& block, std::span<const BlockItem> items,
                       PyObject* value) noexcept {
    const bool is_list = block.owner == ItemOwner::list;
    const unsigned long flag =
        is_list ? Py_TPFLAGS_LIST_SUBCLASS : Py_TPFLAGS_TUPLE_SUBCLASS;
    if (!PyType_HasFeature(Py_TYPE(value), flag)) return false;
    if (Py_SIZE(value) < static_cast<Py_ssize_t>(block.longest)) return false;
    PyObject* const* all = is_list ? reinterpret_cast<PyListObject*>(value)->ob_item
                                   : reinterpret_cast<PyTupleObject*>(value)->ob_item;
#pragma GCC unroll 4
    for (const BlockItem& item : items) {
        if (!item.type.is(as_object(Py_TYPE(all[item.index])))) return false;
    }
    return true;
}

}  // namespace guardtree
