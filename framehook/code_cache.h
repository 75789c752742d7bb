// What the hook stores for one code object: its entries, its state, its counters.
// SPDX-License-Identifier: MIT
//
// It is stored in the code object's co_extra, which the garbage collector cannot see.
// So every strong reference of an entry lives as long as the code object, or until
// reset(). To keep a guard on a function from keeping that function's own code alive,
// identity operands are weak (guards/operands), and a GuardManager refers weakly to its
// function or code.
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

/// Incremented only on slow paths. A hit is counted in its entry.
struct CodeCounters {
    uint64_t misses = 0;          ///< frames for which no entry passed
    uint64_t failed_lookups = 0;  ///< misses of code objects that had entries
    uint64_t dropped_hits = 0;    ///< hits of entries that were removed
    uint64_t called = 0;          ///< entries run by a function call (the fall-back)
    uint64_t compiled = 0;        ///< entries from callbacks; each ran at once
    uint64_t not_run = 0;         ///< hits and new entries whose frames ran as written
    uint64_t dicts_built = 0;     ///< f_locals dicts made for guards and callbacks
    uint64_t evicted = 0;         ///< entries that new entries replaced
    uint64_t invalidated = 0;     ///< entries that were removed with a reason
};

/// A removed entry and the reason, for reports.
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

    /// The cache of `code`, or null if it has none.
    static CodeCache* find(PyCodeObject* code) noexcept;

    /// The cache of `code`, which is created if there is none. Null with an exception
    /// set.
    static CodeCache* of(PyCodeObject* code) noexcept;

    /// Requests an index in co_extra from CPython. False with an exception set.
    static bool set_up() noexcept;

    const Shared<Table>& table() const noexcept { return table_; }

    const Policy& policy() const noexcept {
        return own_policy ? *own_policy : default_policy();
    }

    /// True when no entry may be added, so the callback need not be asked. Also true
    /// after `entry_limit` consecutive evictions of entries that were never hit.
    /// Otherwise guards that always fail would be compiled forever.
    bool is_full() const noexcept;

    /// Adds an entry. At the limit, it replaces the least recently used one.
    void add(Shared<Entry> entry);

    /// Removes an entry, with a reason that explain shows. False if it is not in the
    /// table. Safe while the entry runs and while look-ups are in progress.
    bool remove(const Entry& entry, std::string reason);

    /// The last removed entries, newest last.
    const std::vector<Removal>& removals() const noexcept { return removals_; }

    /// Whether its frames cannot take the fast path.
    bool is_special() const noexcept {
        return skipped | (max_inside != Mode::compile);  // one branch
    }

    void drop_dead_entries();

    /// Called on a miss. Drops dead entries from time to time; a few ns on average.
    void look_for_dead_entries();

    /// The hits of all entries since the last reset, including removed ones.
    uint64_t hits() const noexcept;

    /// Clears entries, state, counters and frame_state. Safe while entries run and
    /// while guards of this code object run.
    void reset() noexcept;

    /// Calls reset() on every cache, at interpreter exit. Nothing else would free
    /// cycles between entries and their code.
    static void reset_all() noexcept;

    /// The dict that callbacks get as frame_state. Borrowed, and null with an exception
    /// set.
    PyObject* frame_state() noexcept;

    CodeCounters counters;
    std::optional<Policy> own_policy;
    bool skipped = false;  ///< set by a callback that returned None, or by skip_code
    /// a miss did not call the callback because of the limit
    bool limit_reached = false;
    /// The mode allowed for frames of this code object and everything that they call.
    Mode max_inside = Mode::compile;
    std::string failure;  ///< why it is skipped, if a compiler marked it as failed

private:
    /// Requires room for one more removal.
    void note_removal(const Entry& entry, std::string reason) noexcept;

    static constexpr size_t max_removals = 8;

    Shared<Table> table_ = Table::empty();
    std::vector<Removal> removals_;
    size_t fruitless_ = 0;  ///< consecutive evictions of entries that were never hit
    Owned<> frame_state_;
    size_t misses_since_look_ = 0;
    CodeCache* before_;  ///< all caches are in a ring
    CodeCache* after_;
};

/// The index of caches in co_extra. The hook reads it without a call.
[[gnu::visibility("hidden")]] extern Py_ssize_t code_cache_index;

}  // namespace guardtree
