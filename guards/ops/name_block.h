// A run of names of one instance or one dict whose values are checked together.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>

#include "../concepts/kind.h"
#include "../objects/last_names.h"

namespace guardtree {

/// One name: what is asked of its value, and where that lay last, which decides
/// nothing.
struct NameRow {
    enum Sort : uint8_t {
        object,    ///< that it is `expected`
        constant,  ///< that it equals `expected`
        any,       ///< that it is there; like the next two, no object is enough
        type,      ///< exactly `expected`; where a length is asked, that is dict
        length,    ///< `expected`: whose length was taken last, dict or OrderedDict
    };

    static constexpr int32_t no_length = -1;

    PyObject* name = nullptr;  ///< an exact str whose hash is known
    mutable PyObject* expected = nullptr;
    int32_t expected_length = no_length;
    mutable uint16_t place = 0;
    Sort sort = any;

    /// False: look again, anew.
    [[gnu::always_inline]] bool is_sure_of(PyObject* value) const noexcept {
        if (sort < any) return value == expected;
        if (!value || reinterpret_cast<PyObject*>(Py_TYPE(value)) != expected)
            return false;
        return expected_length == no_length ||
               PyDict_GET_SIZE(value) == expected_length;
    }
};

static_assert(sizeof(NameRow) == 24);

/// The operands of a name block. Like an item block it speaks for the ops behind it.
struct NameBlockOperands {
    enum Owner : uint8_t { instance, dict, globals };

    uint32_t first = 0;  ///< among the program's name rows
    uint32_t count = 0;
    Owner owner = dict;
    bool hands_on_last = false;  ///< others read the last value, at Op::destination
};

/// The first row whose value does not lie where it lay, or is another one than a look
/// at it tells; `end` where there is none. About 1 ns a row (bench `slope`).
const NameRow* first_unsure(const NameRow* row, const NameRow* end,
                            const LastNames& names) noexcept;

/// The value of a row in a dict or an instance, borrowed, wherever it lies; null where
/// there is none, or `must_pass` and it does not. Runs no user code.
PyObject* value_anew(const NameRow& row, PyObject* owner, bool is_instance,
                     bool must_pass) noexcept;

/// The value of the last row, borrowed where asked for, else any object; null where one
/// is not there or does not pass. Runs no user code.
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
        if (!value_anew(*row, owner, is_instance, true)) return nullptr;
    }
    if (!block.hands_on_last) return owner;
    PyObject* const last =
        names.value_at(Remembered(end[-1].place).place(), end[-1].name);
    return last ? last : value_anew(end[-1], owner, is_instance, false);
}

}  // namespace guardtree
