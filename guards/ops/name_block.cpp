// Checks the rows of a name block: rows that a look can decide in one loop, the others
// one by one.
// SPDX-License-Identifier: MIT
#include "name_block.h"

#include "../objects/dict_lookup.h"
#include "../objects/instance_attribute.h"

#include "op.h"

namespace guardtree {
namespace {

/// Contains no call, so all its variables stay in registers.
template <LastNames::Layout layout>
const NameRow* first_unsure_in(const NameRow* row, const NameRow* end,
                               const LastNames& from) noexcept {
    const LastNames names = from;
    for (; row != end; ++row) {
        PyObject* value =
            names.value_at<layout>(Remembered(row->place).place(), row->name);
        if (!row->is_sure_of(value)) break;
    }
    return row;
}

/// A kind that the compiler puts into rows.
template <class K>
concept FitsInRow =
    HasOnlyObject<K> || HasOnlyConstant<K> || ComparesType<K> || ComparesLength<K>;

/// Whether the checks of a row pass.
bool passes(const NameRow& row, const Op* checks, PyObject* value) noexcept {
    if (row.is_sure_of(value)) return true;
    for (uint8_t i = 0; i < row.check_count; ++i) {
        const bool is_passed = dispatch(checks[i], [&]<class K>(const K& kind) -> bool {
            if constexpr (FitsInRow<K>)
                return kind.check(value);
            else
                unreachable();
        });
        if (!is_passed) return false;
    }
    return true;
}

}  // namespace

const NameRow* first_unsure(const NameRow* row, const NameRow* end,
                            const LastNames& names) noexcept {
    return names.layout() == LastNames::Layout::split
               ? first_unsure_in<LastNames::Layout::split>(row, end, names)
               : first_unsure_in<LastNames::Layout::entries>(row, end, names);
}

PyObject* fetched_value(const NameRow& row, PyObject* owner,
                        bool is_instance) noexcept {
    const Key key{row.name, reinterpret_cast<PyASCIIObject*>(row.name)->hash};
    const Remembered remembered(row.place);
    return (is_instance ? search_instance_attribute(owner, key, remembered)
                        : search_dict(owner, key, remembered))
        .get();
}

bool rest_passes(const NameRow* row, const NameRow* unsure, const NameRow* end,
                 const LastNames& names, const Op* covered, PyObject* owner,
                 bool is_instance) noexcept {
    while (unsure != end) {
        for (; row != unsure; ++row) covered += 1 + row->check_count;
        PyObject* const value = fetched_value(*row, owner, is_instance);
        if (!value || !passes(*row, covered + 1, value)) return false;
        unsure = first_unsure(row + 1, end, names);
    }
    return true;
}

}  // namespace guardtree
