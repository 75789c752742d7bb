// item: value[key] through the full protocol.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../framelocals/cpython/compact_int.h"
#include "../../framelocals/element.h"
#include "../concepts/kind.h"
#include "../objects/dict_lookup.h"

namespace guardtree {

struct Item {
    static constexpr Info info{
        .name = "item",
        .summary =
            "`value[key]` through the full protocol: user `__getitem__` runs. "
            "LookupError, and a value that has no items, fail the guard; other "
            "exceptions are errors.",
        .python = "value[key]",
        .calls_python = true,
    };
    static constexpr StepExample examples[] = {{"'a'", "{'a': 1}", "1", "{}"},
                                               {"1", "[5, 6]", "6", "[5]"},
                                               {"0", "'xy'", "'x'", "None"}};

    Key key;

    static constexpr auto operands() { return std::tuple{operand("key", &Item::key)}; }

    /// Whether it can only return an item or raise IndexError.
    bool is_plain_on(PyTypeObject* type) const noexcept {
        const bool is_sequence = type == &PyTuple_Type || type == &PyList_Type ||
                                 type == &PyUnicode_Type || type == &PyBytes_Type ||
                                 type == &PyRange_Type;
        return is_sequence && PyLong_CheckExact(key.value);
    }

    /// Of an exact dict, and by an int of an exact list or tuple.
    Borrowed<> peek(PyObject* value, Remembered) const noexcept {
        PyTypeObject* const type = Py_TYPE(value);
        if (type == &PyDict_Type) return find_in_dict(value, key);
        int64_t index = 0;
        if (type != &PyList_Type && type != &PyTuple_Type) return nullptr;
        if (!PyLong_CheckExact(key.value) || !read_compact_int(key.value, index))
            return nullptr;
        return type == &PyList_Type ? list_element(value, index)
                                    : tuple_element(value, index);
    }

    Owned<> get(PyObject* value) const noexcept {
        uint16_t place = 0;
        if (const Borrowed<> found = peek(value, Remembered(place)))
            return Owned<>::share(found.get());
        return is_absent_from(value) ? Owned<>() : by_protocol(value);
    }

private:
    /// Whether `peek` has shown that there is no item.
    bool is_absent_from(PyObject* value) const noexcept {
        int64_t index = 0;
        if (PyDict_CheckExact(value))
            return presence_in_dict(value, key) == Presence::absent;
        return (PyList_CheckExact(value) || PyTuple_CheckExact(value)) &&
               PyLong_CheckExact(key.value) && read_compact_int(key.value, index);
    }

    Owned<> by_protocol(PyObject* value) const noexcept {
        const PyTypeObject* type = Py_TYPE(value);
        const bool has_items =
            (type->tp_as_mapping && type->tp_as_mapping->mp_subscript) ||
            (type->tp_as_sequence && type->tp_as_sequence->sq_item) ||
            PyType_Check(value);
        if (!has_items) return {};
        auto found = Owned<>::steal(PyObject_GetItem(value, key.value));
        if (!found && PyErr_ExceptionMatches(PyExc_LookupError)) PyErr_Clear();
        return found;
    }
};

}  // namespace guardtree
