// Views: creates them from a frame, and creates the locals dict on request.
// SPDX-License-Identifier: MIT
#include "../cpython/cpython.h"

#include "view.h"

#include <utility>

namespace guardtree {
namespace {

uint64_t dicts_built_count = 0;

unsigned char slot_kind(PyCodeObject* code, int slot) noexcept {
    return static_cast<unsigned char>(
        PyBytes_AS_STRING(code->co_localspluskinds)[slot]);
}

}  // namespace

uint64_t dicts_built() noexcept {
    return dicts_built_count;
}

bool is_hidden_slot(PyCodeObject* code, int slot) noexcept {
    return (slot_kind(code, slot) & CPython::kind_hidden) != 0;
}

int find_slot(PyCodeObject* code, PyObject* name) noexcept {
    PyObject* names = code->co_localsplusnames;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
        PyObject* candidate = PyTuple_GET_ITEM(names, i);
        if (candidate == name || PyUnicode_Compare(candidate, name) == 0) {
            if (!is_hidden_slot(code, static_cast<int>(i))) return static_cast<int>(i);
        }
    }
    return -1;
}

static_assert(offsetof(CPython::Frame, f_globals) == frame_globals_offset);

Borrowed<> View::builtins() const noexcept {
    return frame_ ? CPython::builtins(frame_) : scope_->builtins;
}

Borrowed<> View::function() const noexcept {
    return frame_ ? CPython::function(frame_) : scope_->function;
}

Borrowed<> View::closure() const noexcept {
    if (!frame_) return scope_->closure;
    return reinterpret_cast<PyFunctionObject*>(CPython::function(frame_))->func_closure;
}

Borrowed<> View::free_variable(int index) const noexcept {
    if (has_free_slots_) {
        PyObject* given = slot_object(slots_[first_free_slot(code_) + index]);
        if (given) return given;
    }
    PyObject* cells = closure().get();
    if (!cells || index >= PyTuple_GET_SIZE(cells)) return nullptr;
    PyObject* cell = PyTuple_GET_ITEM(cells, index);
    return PyCell_Check(cell) ? PyCell_GET(cell) : nullptr;
}

Borrowed<> View::value(int slot) const noexcept {
    const int first_free = first_free_slot(code_);
    return slot >= first_free ? free_variable(slot - first_free) : local(slot);
}

Borrowed<> View::mapping() const noexcept {
    if (mapping_ || !frame_) return mapping_;
    return CPython::namespace_of(frame_);
}

Borrowed<> View::f_locals() const noexcept {
    if (const Borrowed<> own = mapping()) return own;
    if (dict_) return dict_.get();
    auto dict = Owned<>::steal(PyDict_New());
    if (!dict) return nullptr;
    const bool is_function = (code_->co_flags & CO_OPTIMIZED) != 0;
    for (int slot = 0; slot < code_->co_nlocalsplus; ++slot) {
        const unsigned char kind = slot_kind(code_, slot);
        if ((kind & CPython::kind_hidden) != 0) continue;
        if ((kind & CPython::kind_free) != 0 && !is_function) continue;
        PyObject* found = value(slot).get();
        PyObject* name = PyTuple_GET_ITEM(code_->co_localsplusnames, slot);
        // The first slot of a name counts: an argument, not a free variable.
        if (found && !PyDict_SetDefault(dict.get(), name, found)) return nullptr;
    }
    if (dict_) return dict_.get();  // another thread may have created it by now
    dict_ = std::move(dict);
    dicts_built_ = 1;
    ++dicts_built_count;
    return dict_.get();
}

}  // namespace guardtree
