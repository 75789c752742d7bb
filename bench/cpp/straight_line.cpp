// The unrolled checks, one expression for each guard.
// SPDX-License-Identifier: MIT
#include "straight_line.h"

#include <utility>

namespace guardtree::bench {
namespace {

template <HandShape shape, int i, int count>
[[gnu::always_inline]] inline bool passes(const SlotWord* slots,
                                          HandConstants& constants) {
    PyObject* value = slot_object(slots[shape == HandShape::list_block ? 0 : i]);
    if constexpr (shape == HandShape::local_type) {
        return value && PyLong_CheckExact(value);
    } else if constexpr (shape == HandShape::list_item_type) {
        return value && PyList_Check(value) && Py_SIZE(value) > 0 &&
               PyLong_CheckExact(PyList_GET_ITEM(value, 0));
    } else if constexpr (shape == HandShape::list_block) {
        if constexpr (i == 0) {
            if (!value || !PyList_Check(value) || Py_SIZE(value) < count) return false;
        }
        return PyLong_CheckExact(PyList_GET_ITEM(value, i));
    } else if constexpr (i % 4 == 0) {
        return value && PyLong_CheckExact(value);
    } else if constexpr (i % 4 == 3) {
        PyObject* item =
            find_in_dict(value, constants.keys[i], Remembered(constants.places[i]))
                .get();
        return item && PyLong_CheckExact(item);
    } else {
        return value && equals_constant(value, constants.keys[i].value);
    }
}

template <HandShape shape, int count>
bool all_pass(const SlotWord* slots, HandConstants& constants) {
    return [&]<int... i>(std::integer_sequence<int, i...>) {
        return (passes<shape, i, count>(slots, constants) && ...);
    }
    (std::make_integer_sequence<int, count>());
}

template <HandShape shape>
ByHand unrolled(int count) {
    return count == 8 ? all_pass<shape, 8> : all_pass<shape, 32>;
}

}  // namespace

ByHand straight_line(HandShape shape, int count) {
    switch (shape) {
    case HandShape::none: return nullptr;
    case HandShape::local_type: return unrolled<HandShape::local_type>(count);
    case HandShape::list_item_type: return unrolled<HandShape::list_item_type>(count);
    case HandShape::list_block: return unrolled<HandShape::list_block>(count);
    case HandShape::mixed: return unrolled<HandShape::mixed>(count);
    }
    return nullptr;
}

}  // namespace guardtree::bench
