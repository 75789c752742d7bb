// Caches in co_extra: making, resetting, freeing them.
// SPDX-License-Identifier: MIT
#include "../framelocals/cpython/cpython.h"

#include "code_cache.h"

#include <new>

namespace guardtree {
namespace {

Py_ssize_t extra_index = -1;
size_t most_entries = default_entry_limit;

/// CPython calls this when a code object dies, with null where nothing was stored.
void release(void* cache) { delete static_cast<CodeCache*>(cache); }

}  // namespace

bool CodeCache::set_up() noexcept {
    if (extra_index >= 0) return true;
    extra_index = CPython::request_code_extra_index(release);
    if (extra_index >= 0) return true;
    PyErr_SetString(PyExc_ImportError,
                    "no co_extra index is left: other modules of this process took all "
                    "255; import guardtree before them");
    return false;
}

CodeCache* CodeCache::find(PyCodeObject* code) noexcept {
    return static_cast<CodeCache*>(CPython::code_extra(code, extra_index));
}

CodeCache* CodeCache::of(PyCodeObject* code) noexcept {
    if (CodeCache* cache = find(code)) return cache;
    auto* cache = new (std::nothrow) CodeCache();
    if (!cache) {
        PyErr_NoMemory();
        return nullptr;
    }
    if (!CPython::set_code_extra(code, extra_index, cache)) {
        delete cache;
        return nullptr;
    }
    return cache;
}

void CodeCache::add(Shared<Entry> entry) {
    ++counters.compiled;
    table_ = table_->with(std::move(entry));
}

void CodeCache::drop_dead_entries() {
    if (table_->has_dead()) table_ = table_->without_dead();
}

void CodeCache::reset() noexcept {
    // What goes may run user code that looks at this cache: it must be reset by then.
    const Shared<Table> table = std::move(table_);
    const Owned<> state = std::move(frame_state_);
    table_ = make_shared_counted<Table>();
    counters = {};
    skipped = false;
    limit_reached = false;
}

PyObject* CodeCache::frame_state() noexcept {
    if (!frame_state_) frame_state_ = Owned<>::steal(PyDict_New());
    return frame_state_.get();
}

size_t entry_limit() noexcept { return most_entries; }

size_t set_entry_limit(size_t limit) noexcept {
    return std::exchange(most_entries, limit);
}

}  // namespace guardtree
