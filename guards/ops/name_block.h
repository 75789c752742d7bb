// A group of names of one instance or one dict whose values one op checks together.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>

#include "../concepts/kind.h"
#include "../objects/last_names.h"

namespace guardtree {

/// One name, and a look at its value that can be sure that its checks pass. Where it is
/// not, the ops that the block covers are asked.
struct NameRow {
    enum Sure : uint8_t {
        identity,   ///< the value is `expected`
        existence,  ///< there is a value
        type,       ///< the type is `expected`; with a length, the type is dict
        length,     ///< the type is `expected` or dict, and the dict has that length
    };

    static constexpr int32_t no_length = -1;

    PyObject* name = nullptr;  ///< an exact str with a cached hash
    PyObject* expected = nullptr;
    int32_t expected_length = no_length;
    mutable uint16_t place = 0;  ///< where the value was found last; only a hint
    Sure sure = existence;
    uint8_t check_count = 0;  ///< ops after the name's own in the ops that are covered

    [[gnu::always_inline]] bool is_sure_of(PyObject* value) const noexcept {
        if (sure == identity) return value == expected;
        if (!value || sure == existence) return value;
        PyObject* const found = as_object(Py_TYPE(value));
        const bool is_type =
            found == expected || (sure == length && found == as_object(&PyDict_Type));
        return is_type && (expected_length == no_length ||
                           PyDict_GET_SIZE(value) == expected_length);
    }
};

static_assert(sizeof(NameRow) == 24);

/// The operands of a name block. Like an item block, it covers the ops after it.
struct NameBlockOperands {
    uint32_t first = 0;  ///< index into the program's name rows
    uint32_t count = 0;
    NameOwner owner = NameOwner::dict;
    bool hands_on_last = false;  ///< other ops read the last value, at Op::destination
};

/// The first row whose value has moved, or for which a look at the value cannot decide.
/// Returns `end` if there is none. About 1 ns per row (bench `slope`).
const NameRow* first_unsure(const NameRow* row, const NameRow* end,
                            const LastNames& names) noexcept;

/// Whether the values of `unsure`, the first such row, and of those after it pass.
/// `row`: the first row of the block, whose op is `covered`. Runs no user code.
bool rest_passes(const NameRow* row, const NameRow* unsure, const NameRow* end,
                 const LastNames& names, const Op* covered, PyObject* owner,
                 bool is_instance) noexcept;

/// Looks up the value of a row in a dict or an instance, wherever it is now. Borrowed.
/// Null if there is no such value. Runs no user code.
PyObject* fetched_value(const NameRow& row, PyObject* owner, bool is_instance) noexcept;

/// Null if a value is missing or does not pass. Otherwise the value of the last row,
/// borrowed, if hands_on_last is set, else some other object. `covered`: the op after
/// the block. Runs no user code.
[[gnu::always_inline]] inline PyObject* last_if_all_pass(const NameBlockOperands& block,
                                                         const NameRow* row,
                                                         const Op* covered,
                                                         PyObject* owner) noexcept {
    LastNames names;
    const bool is_instance = block.owner == NameOwner::instance;
    if (is_instance) {
        names.read_instance(owner);
    } else {
        if (!PyDict_Check(owner)) return nullptr;
        names.read_dict(owner);
    }
    const NameRow* const end = row + block.count;
    const NameRow* const unsure = first_unsure(row, end, names);
    if (unsure != end &&
        !rest_passes(row, unsure, end, names, covered, owner, is_instance)) {
        return nullptr;
    }
    if (!block.hands_on_last) return owner;
    PyObject* const last =
        names.value_at(Remembered(end[-1].place).place(), end[-1].name);
    return last ? last : fetched_value(end[-1], owner, is_instance);
}

}  // namespace guardtree
