// A group of names of one instance or one dict whose values one op checks together.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>

#include "../concepts/kind.h"
#include "../objects/last_names.h"

namespace guardtree {

/// One name: the condition on its value, and where the value was found last. That place
/// is only a hint.
struct NameRow {
    enum Kind : uint8_t {
        object,    ///< the value is `expected`
        constant,  ///< the value equals `expected`
        any,       ///< the value exists; from here on identity is not enough
        type,      ///< the type is `expected`; with a length, the type is dict
        length,    ///< only the length counts; `expected` is the type last seen
    };

    static constexpr int32_t no_length = -1;

    PyObject* name = nullptr;  ///< an exact str with a cached hash
    mutable PyObject* expected = nullptr;
    int32_t expected_length = no_length;
    mutable uint16_t place = 0;
    Kind kind = any;

    /// False means that a full look-up has to decide.
    [[gnu::always_inline]] bool is_sure_of(PyObject* value) const noexcept {
        if (kind < any) return value == expected;
        if (!value || reinterpret_cast<PyObject*>(Py_TYPE(value)) != expected)
            return false;
        return expected_length == no_length ||
               PyDict_GET_SIZE(value) == expected_length;
    }
};

static_assert(sizeof(NameRow) == 24);

/// The operands of a name block. Like an item block, it covers the ops after it.
struct NameBlockOperands {
    enum Owner : uint8_t { instance, dict, globals };

    uint32_t first = 0;  ///< index into the program's name rows
    uint32_t count = 0;
    Owner owner = dict;
    bool hands_on_last = false;  ///< other ops read the last value, at Op::destination
};

/// The first row whose value has moved, or for which a look at the value cannot decide.
/// Returns `end` if there is none. About 1 ns per row (bench `slope`).
const NameRow* first_unsure(const NameRow* row, const NameRow* end,
                            const LastNames& names) noexcept;

/// Looks up the value of a row in a dict or an instance, wherever it is now. Borrowed.
/// Null if there is no such value, or if `must_pass` is set and the value does not
/// pass. Runs no user code.
PyObject* fetched_value(const NameRow& row, PyObject* owner, bool is_instance,
                        bool must_pass) noexcept;

/// Null if a value is missing or does not pass. Otherwise the value of the last row,
/// borrowed, if hands_on_last is set, else some other object. Runs no user code.
[[gnu::always_inline]] inline PyObject* last_if_all_pass(const NameBlockOperands& block,
                                                         const NameRow* row,
                                                         PyObject* owner) noexcept {
    LastNames names;
    const bool is_instance = block.owner == NameBlockOperands::instance;
    if (is_instance) {
        names.read_instance(owner);
    } else {
        if (!PyDict_Check(owner)) return nullptr;
        names.read_dict(owner);
    }
    const NameRow* const end = row + block.count;
    for (row = first_unsure(row, end, names); row != end;
         row = first_unsure(row + 1, end, names)) {
        if (!fetched_value(*row, owner, is_instance, true)) return nullptr;
    }
    if (!block.hands_on_last) return owner;
    PyObject* const last =
        names.value_at(Remembered(end[-1].place).place(), end[-1].name);
    return last ? last : fetched_value(end[-1], owner, is_instance, false);
}

}  // namespace guardtree
