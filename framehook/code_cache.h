// What the hook knows of one code object: its entries, its state, its counters.
// SPDX-License-Identifier: MIT
//
// Kept in the code object's co_extra, which the garbage collector cannot see: whatever
// an entry holds strongly lives as long as the code object or until reset(). So that a
// guard on a function does not keep that function's own code alive, identity operands
// are weak (guards/operands), and a GuardManager holds what it was made for weakly.
#pragma once
#include <Python.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../guards/lookup/table.h"
#include "../guards/run/hook_mode.h"

#include "policy.h"

namespace guardtree {

/// Counted where it is cold; a hit counts in its entry alone.
struct CodeCounters {
    uint64_t misses = 0;          ///< frames that no entry served
    uint64_t failed_lookups = 0;  ///< those of them that entries were tried for
    uint64_t dropped_hits = 0;    ///< hits of entries that are gone
    uint64_t called = 0;          ///< entries run as a function call (the fall-back)
    uint64_t compiled = 0;        ///< entries that callbacks made; each ran at once
    uint64_t not_run = 0;         ///< hits and new entries whose frames ran as written
    uint64_t dicts_built = 0;     ///< f_locals dicts made for guards and callbacks
    uint64_t evicted = 0;         ///< entries that made room for others
    uint64_t invalidated = 0;     ///< entries that were taken out with a reason
};

/// An entry that is gone, and why: for people.
struct Removal {
    uint64_t hits;
    std::string reason;
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

    const Policy& policy() const noexcept {
        return own_policy ? *own_policy : default_policy();
    }

    /// No entry may be added: the callback need not be asked. So it is too when as many
    /// entries in a row as there may be made room for others and were never hit: guards
    /// that always fail would be compiled for ever.
    bool is_full() const noexcept;

    /// At the limit it takes the place of the entry that was used longest ago.
    void add(Shared<Entry> entry);

    /// Takes an entry out, for a reason that explain tells. False when it is not in
    /// the table. Safe while it runs and while look-ups go on.
    bool remove(const Entry& entry, std::string reason);

    /// The last entries that are gone, newest last.
    const std::vector<Removal>& removals() const noexcept { return removals_; }

    /// Its frames do not go the short way.
    bool is_special() const noexcept {
        return skipped | (most_inside != Mode::compile);  // one branch
    }

    void drop_dead_entries();

    /// What a miss calls: drops them now and then, a few ns on average.
    void look_for_dead_entries();

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
    std::optional<Policy> own_policy;
    bool skipped = false;        ///< the callback said None, or skip_code did
    bool limit_reached = false;  ///< a miss was not compiled because of the entry limit
    /// What frames of this code, and all that they call, may have of the hook.
    Mode most_inside = Mode::compile;
    std::string failure;  ///< why it is skipped, where a compiler gave up on it

private:
    /// There is room for one more.
    void note_removal(const Entry& entry, std::string reason) noexcept;

    static constexpr size_t most_removals = 8;

    Shared<Table> table_ = Table::empty();
    std::vector<Removal> removals_;
    size_t fruitless_ = 0;  ///< entries in a row that were evicted without a hit
    Owned<> frame_state_;
    size_t misses_since_look_ = 0;
    CodeCache* before_;  ///< all caches, in a ring
    CodeCache* after_;
};

/// Where caches lie in co_extra; the hook reads it without a call.
[[gnu::visibility("hidden")]] extern Py_ssize_t code_cache_index;

}  // namespace guardtree
