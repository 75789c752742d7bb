// Where the names of the dict or the instance that a step read last lie.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstddef>
#include <cstdint>

#include "../../framelocals/cpython/dict_layout.h"

namespace guardtree {

/// A walk has one. Steps that follow each other mostly read the same dict or instance:
/// the first asks it how it keeps its names, the others look at a place. What it says
/// holds until user code runs, which may change any dict; the walk forgets it then
/// (bench/compare_torch.py: a fifth of a walk over an encoder).
class LastNames {
public:
    void forget() noexcept { owner_ = none; }

    bool is_dict(PyObject* dict) const noexcept {
        return owner_ == reinterpret_cast<uintptr_t>(dict);
    }

    /// As an instance: a value may be a dict, too.
    bool is_instance(PyObject* object) const noexcept {
        return owner_ == reinterpret_cast<uintptr_t>(object) + instance_mark;
    }

    /// What a dict has as its items.
    [[gnu::always_inline]] void read_dict(PyObject* dict) noexcept {
        owner_ = reinterpret_cast<uintptr_t>(dict);
        read_table(dict);
    }

    /// What an instance has in its dict or in the values that stand for one. False,
    /// and nothing is read, where CPython does not manage those.
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

    /// Where the values are.
    enum class Layout : unsigned {
        split = 3,    ///< by themselves; the shift of the distance between them
        entries = 4,  ///< beside their keys
    };

    Layout layout() const noexcept { return layout_; }

    /// The value of an interned str, borrowed; null when it does not lie at `place`.
    PyObject* value_at(size_t place, PyObject* name) const noexcept {
        if (place >= count_ || entries_[place].key != name) return nullptr;
        return *reinterpret_cast<PyObject* const*>(
            values_ + (place << static_cast<unsigned>(layout_)));
    }

    /// The same where the layout is known.
    template <Layout layout>
    PyObject* value_at(size_t place, PyObject* name) const noexcept {
        if (place >= count_ || entries_[place].key != name) return nullptr;
        return *reinterpret_cast<PyObject* const*>(
            values_ + (place << static_cast<unsigned>(layout)));
    }

private:
    static constexpr uintptr_t instance_mark = 1;
    static constexpr uintptr_t none = 2;  ///< of no object, and not of null
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
        else  // an empty dict's entries, which are none, lie at an odd address
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

    uintptr_t owner_ = none;  ///< its address, marked of an instance
    const DictStringEntry* entries_ = nullptr;
    const char* values_ = nullptr;  ///< of the entry at place 0
    size_t count_ = 0;
    Layout layout_ = Layout::entries;
};

}  // namespace guardtree
