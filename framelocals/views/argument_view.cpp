// Views of a mapping and of a call's arguments.
// SPDX-License-Identifier: MIT
#include <Python.h>

#include <algorithm>

#include "../compiler.h"
#include "../cpython/dict_layout.h"
#include "../same_text.h"
#include "view.h"

namespace guardtree {
namespace {

SlotWord word(PyObject* value) noexcept {
    return reinterpret_cast<SlotWord>(value);
}

int named_arguments(PyCodeObject* code) noexcept {
    return code->co_argcount + code->co_kwonlyargcount;
}

/// The slot of a call's keyword, `guess` in a call that keeps the order. Names are
/// interned nearly always, so the addresses are compared first: 19 names took 300 ns to
/// compare by text.
int keyword_slot(PyCodeObject* code, PyObject* name, int guess) noexcept {
    PyObject* const* names =
        reinterpret_cast<PyTupleObject*>(code->co_localsplusnames)->ob_item;
    const int count = named_arguments(code);
    if (guess < count && names[guess] == name) return guess;
    PyObject* const* const found = std::find(names, names + count, name);
    if (found != names + count) return static_cast<int>(found - names);
    return find_slot(code, name);
}

}  // namespace

MappingView::MappingView(const Scope& scope, std::span<SlotWord> storage) noexcept
    : View(storage.data(), scope.code), storage_(storage) {
    std::ranges::fill(storage_, SlotWord{0});
    scope_ = &scope;
}

MappingView::~MappingView() {
    for (SlotWord value : storage_) Owned<>::steal(slot_object(value)).reset();
}

// Not inlined: otherwise every check would save the registers that it needs.
[[gnu::noinline]] uint16_t DictView::find(const DictStringEntry* entries,
                                          Py_ssize_t count,
                                          const SlotName& wanted) noexcept {
    const auto is_it = [&](uint16_t place) {
        PyObject* key = entries[place].key;
        return key && same_text(key, wanted.name);
    };
    uint16_t place = wanted.place;
    if (place < count && is_it(place)) return place;
    const Py_ssize_t searched = std::min(count, first_keys);
    for (place = 0; place < searched; ++place) {
        if (!is_it(place)) continue;
        store_relaxed(wanted.place, place);
        return place;
    }
    return searched == count ? absent : no_place;
}

bool DictView::fill(PyObject* dict, std::span<const SlotName> wanted) noexcept {
    mapping_ = dict;
    if (wanted.empty()) return true;
    const KeyTable* keys = dict_keys(dict);
    if (keys->kind == KeyTable::general) return false;
    const auto* entries = keys->entries<DictStringEntry>();
    const Py_ssize_t count = keys->entry_count;
    PyObject* const* split = split_values(dict);
    auto* slots = const_cast<SlotWord*>(slots_);
    const int first_free = first_free_slot(code_);
    for (const SlotName& entry : wanted) {
        if (entry.slot >= first_free) {
            if (entry.is_hidden) return false;
            has_free_slots_ = true;
        }
        uint16_t place = load_relaxed(entry.place);
        if (place >= count || entries[place].key != entry.name) [[unlikely]] {
            place = find(entries, count, entry);
            if (place == no_place) return false;
            if (place == absent) {
                slots[entry.slot] = 0;
                continue;
            }
        }
        PyObject* found = split ? split[place] : entries[place].value;
        if (!found) return false;
        slots[entry.slot] = word(found);
    }
    return true;
}

/// As a DictView does, and holds the values. False if that needs another look.
bool MappingView::fill_from_dict(PyObject* dict,
                                 std::span<const SlotName> wanted) noexcept {
    DictView view(*scope_, storage_.data());
    if (!view.fill(dict, wanted)) {
        std::ranges::fill(storage_, SlotWord{0});
        return false;
    }
    has_free_slots_ = view.has_free_slots();
    for (SlotWord& value : storage_)
        value = word(Owned<>::share(slot_object(value)).release());
    return true;
}

bool MappingView::fill(PyObject* mapping, std::span<const SlotName> wanted) noexcept {
    mapping_ = mapping;
    if (PyDict_CheckExact(mapping) && fill_from_dict(mapping, wanted)) return true;
    const int first_free = first_free_slot(code_);
    for (const SlotName& entry : wanted) {
        SlotWord& slot = storage_[static_cast<size_t>(entry.slot)];
        if (slot) continue;
        // If an argument has the same name, the mapping provides the argument.
        const bool is_free = entry.slot >= first_free;
        if (is_free && find_slot(code_, entry.name) < first_free) continue;
        if (PyDict_CheckExact(mapping)) {
            PyObject* found = PyDict_GetItemWithError(mapping, entry.name);
            if (!found && PyErr_Occurred()) return false;
            slot = word(Owned<>::share(found).release());
        } else {
            slot = word(PyObject_GetItem(mapping, entry.name));
            if (!slot) {
                if (!PyErr_ExceptionMatches(PyExc_KeyError)) return false;
                PyErr_Clear();
            }
        }
        // The mapping also provides free variables. Only those that it lacks come from
        // cells.
        if (slot && is_free) has_free_slots_ = true;
    }
    return true;
}

ArgumentsView::ArgumentsView(PyFunctionObject* function,
                             std::span<SlotWord> storage) noexcept
    : View(storage.data(), reinterpret_cast<PyCodeObject*>(function->func_code)),
      storage_(storage),
      function_(function),
      callee_{code_, function->func_globals, function->func_builtins,
              function->func_closure, as_object(function)} {
    std::ranges::fill(storage_, SlotWord{0});
    scope_ = &callee_;
    only_borrows_ = true;
}

bool ArgumentsView::bind(PyObject* const* arguments, size_t count,
                         PyObject* keywords) noexcept {
    const auto given = static_cast<size_t>(PyVectorcall_NARGS(count));
    const auto taken = std::min(given, static_cast<size_t>(code_->co_argcount));
    std::transform(arguments, arguments + taken, storage_.begin(), word);
    auto next = static_cast<size_t>(named_arguments(code_));
    if (code_->co_flags & CO_VARARGS) {
        rest_ = Owned<>::steal(PyTuple_New(static_cast<Py_ssize_t>(given - taken)));
        if (!rest_) return false;
        for (size_t i = taken; i < given; ++i) {
            PyTuple_SET_ITEM(rest_.get(), static_cast<Py_ssize_t>(i - taken),
                             Owned<>::share(arguments[i]).release());
        }
        storage_[next++] = word(rest_.get());
    } else if (given > taken) {
        return false;
    }
    if (code_->co_flags & CO_VARKEYWORDS) {
        keywords_ = Owned<>::steal(PyDict_New());
        if (!keywords_) return false;
        storage_[next] = word(keywords_.get());
    }
    const auto first = static_cast<int>(taken);
    if (!keywords) return bind_defaults(first);
    if (!bind_keywords(arguments + given, keywords, first)) return false;
    // Each name has filled a place of its own, unless `**kwargs` took it.
    const auto by_name = static_cast<int>(PyTuple_GET_SIZE(keywords));
    if (!keywords_ && first + by_name == named_arguments(code_)) return true;
    return bind_defaults(first);
}

bool ArgumentsView::bind_keywords(PyObject* const* values, PyObject* names,
                                  int guess) noexcept {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
        PyObject* name = PyTuple_GET_ITEM(names, i);
        const int slot = keyword_slot(code_, name, guess);
        guess = slot + 1;
        if (slot >= code_->co_posonlyargcount && slot < named_arguments(code_)) {
            SlotWord& place = storage_[static_cast<size_t>(slot)];
            if (place) return false;  // given twice
            place = word(values[i]);
        } else if (!keywords_ || PyDict_SetItem(keywords_.get(), name, values[i]) < 0) {
            return false;
        }
    }
    return true;
}

bool ArgumentsView::bind_defaults(int taken) noexcept {
    const int positional = code_->co_argcount;
    const int named = named_arguments(code_);
    if (taken == named) return true;
    defaults_ = Owned<>::share(function_->func_defaults);
    PyObject* defaults = defaults_.get();
    const auto have = defaults ? static_cast<int>(PyTuple_GET_SIZE(defaults)) : 0;
    for (int i = taken; i < named; ++i) {
        SlotWord& place = storage_[static_cast<size_t>(i)];
        if (place) continue;
        PyObject* value = nullptr;
        if (i >= positional)
            value = keyword_default(i).get();
        else if (const int index = i - (positional - have); index >= 0)
            value = PyTuple_GET_ITEM(defaults, index);
        if (!value) return false;
        place = word(value);
    }
    return true;
}

/// The default of a keyword-only argument, held by this view. Null with an exception
/// set, or if it has none.
Borrowed<> ArgumentsView::keyword_default(int slot) noexcept {
    PyObject* const dict = function_->func_kwdefaults;
    if (!dict) return nullptr;
    if (!named_) {
        named_ = Owned<>::steal(PyTuple_New(code_->co_kwonlyargcount));
        if (!named_) return nullptr;
    }
    PyObject* const name = PyTuple_GET_ITEM(code_->co_localsplusnames, slot);
    PyObject* const value = PyDict_GetItemWithError(dict, name);
    if (value) {
        PyTuple_SET_ITEM(named_.get(), slot - code_->co_argcount,
                         Owned<>::share(value).release());
    }
    return value;
}

}  // namespace guardtree
