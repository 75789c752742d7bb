// Caches in co_extra: making, resetting, freeing them.
// SPDX-License-Identifier: MIT
#include "../framelocals/cpython/cpython.h"

#include "code_cache.h"

#include <new>
#include <utility>
#include <vector>

namespace guardtree {

Py_ssize_t code_cache_index = -1;

namespace {

size_t most_entries = default_entry_limit;

/// The last cache made; the others are reached from it.
CodeCache* newest = nullptr;

/// CPython calls this when a code object dies, with null where nothing was stored.
void release(void* cache) {
    delete static_cast<CodeCache*>(cache);
}

}  // namespace

CodeCache::CodeCache() noexcept : before_(this), after_(this) {
    if (newest) {
        before_ = newest;
        after_ = newest->after_;
        before_->after_ = this;
        after_->before_ = this;
    }
    newest = this;
}

CodeCache::~CodeCache() {
    if (newest == this) newest = before_ == this ? nullptr : before_;
    before_->after_ = after_;
    after_->before_ = before_;
}

void CodeCache::reset_all() noexcept {
    // Dropping runs user code, which may make and end caches: all are emptied first.
    std::vector<Shared<Table>> tables;
    References states;
    CodeCache* cache = newest;
    while (cache) {
        tables.push_back(std::exchange(cache->table_, make_shared_counted<Table>()));
        states.push_back(std::exchange(cache->frame_state_, {}));
        cache->skipped = false;
        cache->limit_reached = false;
        cache->counters = {};
        cache = cache->before_ == newest ? nullptr : cache->before_;
    }
}

bool CodeCache::set_up() noexcept {
    if (code_cache_index >= 0) return true;
    code_cache_index = CPython::request_code_extra_index(release);
    if (code_cache_index >= 0) return true;
    PyErr_SetString(PyExc_ImportError,
                    "no co_extra index is left: other modules of this process took all "
                    "255; import guardtree before them");
    return false;
}

CodeCache* CodeCache::find(PyCodeObject* code) noexcept {
    return static_cast<CodeCache*>(CPython::code_extra(code, code_cache_index));
}

CodeCache* CodeCache::of(PyCodeObject* code) noexcept {
    if (CodeCache* cache = find(code)) return cache;
    auto* cache = new (std::nothrow) CodeCache();
    if (!cache) {
        PyErr_NoMemory();
        return nullptr;
    }
    if (!CPython::set_code_extra(code, code_cache_index, cache)) {
        delete cache;
        return nullptr;
    }
    return cache;
}

void CodeCache::add(Shared<Entry> entry) {
    ++counters.compiled;
    drop_dead_entries();
    table_ = table_->with(std::move(entry));
}

void CodeCache::drop_dead_entries() {
    if (!table_->has_dead()) return;
    for (const Shared<Entry>& entry : table_->entries()) {
        if (entry->program.is_dead()) counters.dropped_hits += entry->hits;
    }
    table_ = table_->without_dead();
}

uint64_t CodeCache::hits() const noexcept {
    uint64_t sum = counters.dropped_hits;
    for (const Shared<Entry>& entry : table_->entries()) sum += entry->hits;
    return sum;
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

size_t entry_limit() noexcept {
    return most_entries;
}

size_t set_entry_limit(size_t limit) noexcept {
    return std::exchange(most_entries, limit);
}

}  // namespace guardtree
