// Creates, resets and frees caches in co_extra.
// SPDX-License-Identifier: MIT
#include "../framelocals/cpython/cpython.h"

#include "code_cache.h"

#include "../framelocals/no_memory.h"

#include <new>
#include <utility>
#include <vector>

namespace guardtree {

Py_ssize_t code_cache_index = -1;

namespace {

/// The newest cache. The others are reachable from it.
CodeCache* newest = nullptr;

/// CPython calls this when a code object dies. `cache` is null if nothing was stored.
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
    // Releasing entries runs user code, which may create and free caches. So all caches
    // are emptied first.
    std::vector<Shared<Table>> tables;
    References states;
    size_t count = 0;
    for (CodeCache* each = newest; each;
         each = each->before_ == newest ? nullptr : each->before_)
        ++count;
    const bool has_room = allocating([&] {
        tables.reserve(count);
        states.reserve(count);
    });
    if (!has_room) return PyErr_Clear();  // they are never freed
    CodeCache* cache = newest;
    while (cache) {
        tables.push_back(std::exchange(cache->table_, Table::empty()));
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
        // _PyCode_SetExtra does not set MemoryError itself (Objects/codeobject.c).
        if (!PyErr_Occurred()) PyErr_NoMemory();
        return nullptr;
    }
    return cache;
}

bool CodeCache::is_full() const noexcept {
    const Policy& limits = policy();
    if (table_->entries().size() < limits.entry_limit) return false;
    return limits.when_full == WhenFull::keep || fruitless_ >= limits.entry_limit;
}

void CodeCache::add(Shared<Entry> entry) {
    drop_dead_entries();
    const Entry* instead = nullptr;
    if (table_->entries().size() >= policy().entry_limit)
        instead = table_->least_recent();
    // Everything that allocates comes first, so nothing has changed if it throws.
    std::string reason = "evicted: the code has as many entries as it may";
    removals_.reserve(max_removals);
    Shared<Table> made = table_->with(entry, instead);
    ++counters.compiled;
    entry->last_use = use_clock++;  // hits from now on have a later time
    if (instead) {
        ++counters.evicted;
        fruitless_ = instead->hits ? 0 : fruitless_ + 1;
        note_removal(*instead, std::move(reason));
    }
    // releasing the old table may run user code, so it comes last
    std::swap(table_, made);
}

bool CodeCache::remove(const Entry& entry, std::string reason) {
    const Shared<Table> present = table_;
    removals_.reserve(max_removals);
    Shared<Table> made = present->without(entry);
    if (made->entries().size() == present->entries().size()) return false;
    ++counters.invalidated;
    note_removal(entry, std::move(reason));
    table_ = std::move(made);
    return true;
}

void CodeCache::note_removal(const Entry& entry, std::string reason) noexcept {
    counters.dropped_hits += entry.hits;
    if (removals_.size() == max_removals) removals_.erase(removals_.begin());
    removals_.push_back({entry.hits, std::move(reason)});
}

void CodeCache::look_for_dead_entries() {
    // The search is O(entries), so it only runs once per a number of misses that grows
    // with them.
    if (++misses_since_look_ * 8 < table_->entries().size()) return;
    misses_since_look_ = 0;
    drop_dead_entries();
}

void CodeCache::drop_dead_entries() {
    if (!table_->has_dead()) return;
    Shared<Table> made = table_->without_dead();
    for (const Shared<Entry>& entry : table_->entries()) {
        if (entry->program.is_dead()) counters.dropped_hits += entry->hits;
    }
    std::swap(table_, made);
}

uint64_t CodeCache::hits() const noexcept {
    uint64_t sum = counters.dropped_hits;
    for (const Shared<Entry>& entry : table_->entries()) sum += entry->hits;
    return sum;
}

void CodeCache::reset() noexcept {
    // Releasing references may run user code that uses this cache, so it is reset
    // before.
    const Shared<Table> table = std::move(table_);
    const Owned<> state = std::move(frame_state_);
    table_ = Table::empty();
    removals_.clear();
    counters = {};
    skipped = false;
    limit_reached = false;
    max_inside = Mode::compile;
    failure.clear();
    fruitless_ = 0;
}

PyObject* CodeCache::frame_state() noexcept {
    if (!frame_state_) frame_state_ = Owned<>::steal(PyDict_New());
    return frame_state_.get();
}

Policy& default_policy() noexcept {
    static Policy policy;
    return policy;
}

}  // namespace guardtree
