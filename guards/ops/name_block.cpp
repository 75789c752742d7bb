// Checks the rows of a name block: rows that a look can decide in one loop, the others
// one by one.
// SPDX-License-Identifier: MIT
#include "name_block.h"

#include "../../framelocals/compiler.h"
#include "../objects/builtin_length.h"
#include "../objects/constant_compare.h"
#include "../objects/dict_lookup.h"
#include "../objects/instance_attribute.h"

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

bool is_length_of_dict(PyObject* value) noexcept {
    return PyDict_CheckExact(value) || PyODict_CheckExact(value);
}

bool passes(const NameRow& row, PyObject* value) noexcept {
    switch (row.kind) {
    case NameRow::object: return value == row.expected;
    case NameRow::constant: return equals_constant(value, row.expected);
    case NameRow::any: return true;
    case NameRow::type: return row.is_sure_of(value);
    case NameRow::length:
        if (is_length_of_dict(value)) {
            store_relaxed(row.expected, as_object(Py_TYPE(value)));
        }
        return builtin_length(value) == row.expected_length;
    }
    unreachable();
}

}  // namespace

const NameRow* first_unsure(const NameRow* row, const NameRow* end,
                            const LastNames& names) noexcept {
    return names.layout() == LastNames::Layout::split
               ? first_unsure_in<LastNames::Layout::split>(row, end, names)
               : first_unsure_in<LastNames::Layout::entries>(row, end, names);
}

PyObject* fetched_value(const NameRow& row, PyObject* owner, bool is_instance,
                        bool must_pass) noexcept {
    const Key key{row.name, reinterpret_cast<PyASCIIObject*>(row.name)->hash};
    const Remembered remembered(row.place);
    PyObject* const value =
        (is_instance ? search_instance_attribute(owner, key, remembered)
                     : search_dict(owner, key, remembered))
            .get();
    return value && must_pass && !passes(row, value) ? nullptr : value;
}

}  // namespace guardtree
