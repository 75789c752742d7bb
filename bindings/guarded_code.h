// GuardedCode and CacheEntry as Python types: the results of callbacks, and the content
// of caches.
// SPDX-License-Identifier: MIT
#pragma once
#include <pybind11/pybind11.h>

#include "../framehook/code_cache.h"
#include "../guards/tree/tree.h"

#include "boxed.h"
#include "entries.h"

namespace guardtree {

namespace py = pybind11;

/// Replacement code and the guards under which it may run: a snapshot.
class GuardedCode {
public:
    /// `check_fn`: a GuardManager (its tree is copied), or a callable that takes
    /// f_locals. Throws TypeError and ValueError; see replacement_problem. `captures`:
    /// see read_named_captures. With captures, `check_fn` must be a GuardManager.
    GuardedCode(py::handle code, py::handle check_fn, py::handle captures);

    /// An entry compiled for `code`, after a callback returned this for one of its
    /// frames. Throws.
    Shared<Entry> entry_for(PyCodeObject* code) const;

    py::object code() const { return py::reinterpret_borrow<py::object>(code_.get()); }

    py::object check_fn() const {
        return py::reinterpret_borrow<py::object>(check_fn_.get());
    }

    const Captures& captures() const noexcept { return captures_; }

    int traverse(visitproc visit, void* arg) const;
    void clear();

private:
    Owned<> code_;
    Owned<> check_fn_;
    Tree tree_;
    Captures captures_;
};

/// One entry of a table at a certain time. `next` is the entry after it in that table.
class CacheEntryHandle {
public:
    CacheEntryHandle(Shared<Table> table, size_t index)
        : table_(std::move(table)), index_(index) {}

    const Entry& entry() const noexcept { return *table_->entries()[index_]; }

    py::object next() const;

    int traverse(visitproc visit, void* arg) const;

    /// The first entry of `cache`, or None.
    static py::object first_of(const CodeCache* cache);

private:
    Shared<Table> table_;
    size_t index_;
};

/// The code of the frame whose callback is running in this thread, or null.
PyCodeObject* code_in_callback() noexcept;
void set_code_in_callback(PyCodeObject* code);

}  // namespace guardtree

GUARDTREE_BOXED(guardtree::GuardedCode, "GuardedCode")
GUARDTREE_BOXED(guardtree::CacheEntryHandle, "CacheEntry")
