// Where the dict or instance that a step read last stores its names.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstddef>
#include <cstdint>

#include "../../framelocals/cpython/dict_layout.h"

namespace guardtree {

/// A walk has one. Consecutive steps mostly read the same dict or instance. The first
/// of them finds out how the object stores its names, and the others only look at a
/// place. This is valid until user code runs, because that may change any dict. The
/// walk then calls forget (bench/compare_torch.py: saves a fifth of a walk over an
/// encoder).
class LastNames {
public:
    void forget() noexcept { owner_ = none; }

    bool is_dict(PyObject* dict) const noexcept {
        return owner_ == reinterpret_cast<uintptr_t>(dict);
    }

    /// True if it was read as an instance, because a value may be both an instance and
    /// a dict.
    bool is_instance(PyObject* object) const noexcept {
        return owner_ == reinterpret_cast<uintptr_t>(object) + instance_mark;
    }

    /// Reads how a dict stores its items.
    [[gnu::always_inline]] void read_dict(PyObject* dict) noexcept {
        owner_ = reinterpret_cast<uintptr_t>(dict);
        read_table(dict);
    }

    /// Reads how an instance stores its attributes, in its dict or in inline values.
    /// Returns false, and reads nothing, if CPython does not manage the dict of that
    /// type.
    [[gnu::always_inline]] bool read_instance(PyObject* object) noexcept {
        PyTypeObject* type = Py_TYPE(object);
        if (!has_managed_dict(type)) [[unlikely]]
            return false;
        if (PyObject* const* values = instance_values(object, type)) {
            read_entries(*instance_keys(type));
            set_values(values, Layout::split);
        } else {
            PyObject* const dict = managed_dict(object);
            if (!dict) return false;
            read_table(dict);
        }
        owner_ = reinterpret_cast<uintptr_t>(object) + instance_mark;
        return true;
    }

    /// Where the values are stored.
    enum class Layout : unsigned {
        /// in an array of their own; the value is log2 of the distance between them
        split = 3,
        entries = 4,  ///< next to their keys
    };

    Layout layout() const noexcept { return layout_; }

    /// The value of an interned str, borrowed. Null if it is not at `place`.
    PyObject* value_at(size_t place, PyObject* name) const noexcept {
        if (place >= count_ || entries_[place].key != name) return nullptr;
        return *reinterpret_cast<PyObject* const*>(
            values_ + (place << static_cast<unsigned>(layout_)));
    }

    /// The same, if the layout is known.
    template <Layout layout>
    PyObject* value_at(size_t place, PyObject* name) const noexcept {
        if (place >= count_ || entries_[place].key != name) return nullptr;
        return *reinterpret_cast<PyObject* const*>(
            values_ + (place << static_cast<unsigned>(layout)));
    }

private:
    static constexpr uintptr_t instance_mark = 1;
    static constexpr uintptr_t none = 2;  ///< the address of no object, and not null
    static_assert(sizeof(PyObject*) == 1 << static_cast<unsigned>(Layout::split));
    static_assert(sizeof(DictStringEntry) ==
                  1 << static_cast<unsigned>(Layout::entries));

    [[gnu::always_inline]] void read_table(PyObject* dict) noexcept {
        const KeyTable& keys = *dict_keys(dict);
        if (keys.kind == KeyTable::general) [[unlikely]] {
            count_ = 0;
            return;
        }
        read_entries(keys);
        if (PyObject* const* values = split_values(dict))
            set_values(values, Layout::split);
        else  // the entries of an empty dict (there are none) have an odd address
            set_values(reinterpret_cast<const char*>(entries_) +
                           offsetof(DictStringEntry, value),
                       Layout::entries);
    }

    void read_entries(const KeyTable& keys) noexcept {
        entries_ = keys.entries<DictStringEntry>();
        count_ = static_cast<size_t>(keys.entry_count);
    }

    void set_values(const void* first, Layout layout) noexcept {
        values_ = static_cast<const char*>(first);
        layout_ = layout;
    }

    /// the address of the object, with instance_mark for instances
    uintptr_t owner_ = none;
    const DictStringEntry* entries_ = nullptr;
    const char* values_ = nullptr;  ///< address of the value at place 0
    size_t count_ = 0;
    Layout layout_ = Layout::entries;
};

}  // namespace guardtree
