// What the hook knows of one code object: its entries, its state, its counters.
// SPDX-License-Identifier: MIT
//
// Kept in the code object's co_extra, which the garbage collector cannot see: whatever
// an entry holds strongly lives as long as the code object or until reset(). So that a
// guard on a function does not keep that function's own code alive, identity operands
// are weak (guards/operand.h), and a GuardManager holds what it was made for weakly.
#pragma once
#include <Python.h>

#include <cstdint>

#include "../guards/table.h"

namespace guardtree {

/// Counted where it is cold; a hit counts in its entry alone.
struct CodeCounters {
    uint64_t misses = 0;          ///< frames that no entry served
    uint64_t failed_lookups = 0;  ///< those of them that entries were tried for
    uint64_t dropped_hits = 0;    ///< hits of entries that are gone
    uint64_t called = 0;          ///< entries run as a function call (the fall-back)
    uint64_t compiled = 0;        ///< entries that callbacks made; each ran at once
    uint64_t dicts_built = 0;     ///< f_locals dicts made for guards and callbacks
};

class CodeCache {
public:
    CodeCache() noexcept;
    ~CodeCache();
    CodeCache(const CodeCache&) = delete;
    CodeCache& operator=(const CodeCache&) = delete;

    /// The cache of `code`, or null when it has none.
    static CodeCache* find(PyCodeObject* code) noexcept;

    /// The cache of `code`, made when it has none. Null with an exception set.
    static CodeCache* of(PyCodeObject* code) noexcept;

    /// Asks CPython for the place in co_extra. False with an exception set.
    static bool set_up() noexcept;

    const Shared<Table>& table() const noexcept { return table_; }

    void add(Shared<Entry> entry);

    void drop_dead_entries();

    /// Hits of all entries that this cache has had since its last reset.
    uint64_t hits() const noexcept;

    /// Forgets all: entries, state, counters, frame_state. Safe while entries run and
    /// while guards of this very code run.
    void reset() noexcept;

    /// reset() of every cache there is: at interpreter exit, when nothing else would
    /// free what entries and their code hold of each other.
    static void reset_all() noexcept;

    /// The dict given to callbacks as frame_state; borrowed, null with an exception
    /// set.
    PyObject* frame_state() noexcept;

    CodeCounters counters;
    bool skipped = false;        ///< the callback said None, or skip_code did
    bool limit_reached = false;  ///< a miss was not compiled because of the entry limit

private:
    Shared<Table> table_ = make_shared_counted<Table>();
    Owned<> frame_state_;
    CodeCache* before_;  ///< all caches, in a ring
    CodeCache* after_;
};

/// Where caches lie in co_extra; the hook reads it without a call.
[[gnu::visibility("hidden")]] extern Py_ssize_t code_cache_index;

/// Entries a code object may have; at the limit callbacks are no longer asked for it,
/// look-ups go on, misses run plain. Process-wide.
inline constexpr size_t default_entry_limit = 64;
size_t entry_limit() noexcept;
size_t set_entry_limit(size_t limit) noexcept;

}  // namespace guardtree
