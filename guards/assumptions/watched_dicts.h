// The dicts that assumptions depend on: one watcher for all, who depends on what, and
// which dicts change too often to be watched.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>

namespace guardtree {

class Assumption;

/// What of a dict an assumption depends on.
enum class DictPart : uint8_t {
    item,     ///< the value of one key, its absence included
    keys,     ///< which keys there are, their order
    entries,  ///< everything
};

/// One thing that an assumption depends on. `op`: the number of the op that reads it.
struct DictUse {
    PyObject* dict = nullptr;  ///< borrowed: forgotten when it dies
    Py_hash_t hash = 0;        ///< of the key, for items
    DictPart part = DictPart::item;
    uint32_t op = 0;
    /// The arming that made it: a use of a dict that died is none of the next dict's at
    /// its address.
    uint64_t arming = 0;
};

/// How changes of a dict are noticed.
enum class DictCare : uint8_t {
    events,  ///< the assumption is broken by the watcher
    tag,     ///< the dict's word is compared
    direct,  ///< nothing tells, or it changes too often: what is read is read again
};

/// How many things there are and were, for people: process-wide.
struct AssumptionCounts {
    uint64_t tried = 0;      ///< armings that were begun
    uint64_t arms = 0;       ///< assumptions validated and relied on
    uint64_t rearms = 0;     ///< those of them that had been broken
    uint64_t events = 0;     ///< changes that broke assumptions, told by watchers
    uint64_t found = 0;      ///< changes found by comparing
    uint64_t demotions = 0;  ///< dicts found to change too often
    uint64_t armed = 0;      ///< assumptions relied on now
    uint64_t watched = 0;    ///< dicts watched now
};

extern AssumptionCounts assumption_counts;

/// Takes a watcher id where there is one. Idempotent.
void set_up_watched_dicts() noexcept;

/// Breaks all assumptions for good, unwatches all dicts, gives the id back: before the
/// interpreter ends.
void tear_down_watched_dicts() noexcept;

/// False before set_up and after tear_down: nothing may be relied on.
bool assumptions_can_arm() noexcept;

/// Notes what `who` depends on, and begins to watch the dict where that is possible and
/// worth it. Amortised O(1), about 60 ns.
DictCare use_dict(Assumption& who, const DictUse& use);

/// Takes a use back; nothing when the dict died meanwhile.
void release_dict(const Assumption& who, const DictUse& use) noexcept;

/// A change was found by comparing a dict's tag: it counts towards its budget.
void note_found_change(PyObject* dict) noexcept;

/// Whether CPython can compute the hash of `key` without user code; and it.
bool plain_hash(PyObject* key, Py_hash_t& to) noexcept;

}  // namespace guardtree
