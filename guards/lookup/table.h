// The entries of one code object, and what a look-up remembers about them.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../../framelocals/collected.h"
#include "../objects/cache_line.h"
#include "../run/evaluate.h"

#include "decision.h"

namespace guardtree {

/// A program and its payload. Tables and other users share it. Program, payload and
/// source never change. The counters are only for reports. Aligned so that an
/// evaluation reads a single cache line.
struct Entry : OnCacheLines, Collected {
    Entry(Program guards, Owned<> what, Owned<> from) noexcept
        : program(std::move(guards)),
          payload(what.get()),
          source(std::move(from)),
          payload_owner_(std::move(what)) {}

    const Program program;
    const Borrowed<> payload;  ///< replacement code, or any object of the user
    const Owned<>
        source;  ///< the guards as the user passed them: a GuardManager or a callable
    /// for strict mode: the guards as the oracle evaluates them, or null
    Owned<> meaning;
    /// a tuple of the names of its captured values; null if there are none
    Owned<> names;
    mutable uint64_t hits = 0;
    mutable uint64_t errors = 0;
    mutable uint64_t last_use = 0;  ///< value of use_clock
    /// What the payload, if it is a function, takes from the guarded function at each
    /// call.
    enum class Follows : uint8_t { nothing, defaults, names_too };
    Follows follows = Follows::nothing;
    /// The payload is called with all arguments of the call as the function binds them,
    /// by position.
    bool takes_arguments = false;
    /// The payload's code, if the payload is a Python function with the guarded
    /// function's parameters; otherwise null. While the payload has this code, it can
    /// take the bound arguments by position.
    Owned<PyCodeObject> matching_code;
    mutable Owned<>
        last_error;  ///< the last exception of a guard that did not propagate
    /// With replacement code: the slots of the captured values, in the order of the
    /// names.
    std::vector<uint16_t> slots;

    /// Makes the reference to the payload weak, for a payload that keeps this entry
    /// alive. The collector could not see that cycle. False if an exception is set.
    bool let_payload_go() noexcept;

    /// The payload, or null if the reference is weak and it has died.
    PyObject* living_payload() const noexcept;

    int traverse(visitproc visit, void* arg) const;

private:
    Owned<> payload_owner_;  ///< the payload, or a weak reference to it
};

/// Counts misses and new entries of all tables. It is the clock of last_use: an entry
/// may have to be evicted only after one of these. A hit only reads it.
[[gnu::visibility("hidden")]] inline uint64_t use_clock = 0;

inline void note_hit(const Entry& entry) noexcept {
    ++entry.hits;
    entry.last_use = use_clock;
}

/// Immutable: adding or removing an entry makes a new table, so a look-up that runs
/// user code keeps the table that it started with. Entries are in insertion order,
/// oldest first.
class Table : public Collected {
public:
    Table() noexcept = default;

    /// The empty table. Allocates nothing.
    static Shared<Table> empty() noexcept;

    int traverse(visitproc visit, void* arg) const;

    /// A table of these entries, in this order. O(number of their keys).
    static Shared<Table> of(std::span<const Shared<Entry>> entries);

    /// This table's live entries except `instead`, with `entry` at the end.
    Shared<Table> with(Shared<Entry> entry, const Entry* instead = nullptr) const;

    /// This table without entries whose guards can never pass again.
    Shared<Table> without_dead() const;

    /// This table without one entry.
    Shared<Table> without(const Entry& entry) const;

    bool has_dead() const noexcept;

    /// The least recently used entry. Null if the table is empty. O(entries).
    const Entry* least_recent() const noexcept;

    const std::vector<Shared<Entry>>& entries() const noexcept { return entries_; }

    /// The names that all programs read from slots, for views over mappings.
    std::span<const SlotName> names() const noexcept { return names_; }

    uint16_t value_count() const noexcept { return value_count_; }

    /// The maximum number of captured values of an entry.
    size_t max_captured() const noexcept { return max_captured_; }

    bool calls_python() const noexcept { return calls_python_; }

    /// Whether every program is a leaf (program.h), so that a look-up can walk
    /// LeafSlots.
    bool is_leaf() const noexcept { return is_leaf_; }

    /// The index that finds the entries that can pass. Null if entries are tried one by
    /// one.
    const Decision* decision() const noexcept { return decision_.get(); }

    /// The only question of the decision, if the table runs no user code. If it finds a
    /// single entry, no other entry can pass. Null otherwise.
    const Split* only_split() const noexcept { return only_split_; }

    /// The entry that consecutive look-ups hit, if any entry that passes is the answer
    /// and none runs user code. Null otherwise. It is tried first.
    const Entry* repeated() const noexcept { return repeated_; }

    /// Records a hit of an entry that is not `repeated`.
    void remember_hit(const Entry& entry) const noexcept {
        if (last_hit_ != &entry)
            last_hit_ = &entry;
        else if (is_disjoint_)
            repeated_ = &entry;
    }

    void forget_hits() const noexcept { repeated_ = last_hit_ = nullptr; }

private:
    void append(Shared<Entry> entry);

    template <class Keeps>
    Shared<Table> only(Keeps keeps) const;

    /// Adds the last entry to the decision, or rebuilds it if it is stale. Adding is
    /// O(entries), with a small factor.
    void decide();

    /// Whether the decision is to be rebuilt, so that its questions suit the current
    /// entries.
    bool is_stale() const noexcept { return changes_ >= decided_for_ / 2 + 2; }

    void make_decision();

    void find_only_split() noexcept;

    // The members that a look-up reads come first.
    const Split* only_split_ = nullptr;
    mutable const Entry* repeated_ = nullptr;
    mutable const Entry* last_hit_ = nullptr;
    std::unique_ptr<Decision> decision_;
    std::vector<Shared<Entry>> entries_;
    uint16_t value_count_ = 0;
    bool calls_python_ = false;
    bool is_leaf_ = true;
    bool is_disjoint_ = false;  ///< with only_split_: no view can pass two entries
    std::vector<SlotName> names_;
    size_t max_captured_ = 0;
    size_t decided_for_ = 0;  ///< number of entries when the decision was built
    size_t changes_ = 0;      ///< entries added and removed since then
};

/// Stores a guard's exception in its entry, for reports.
[[gnu::cold]] void keep_error(const Entry& entry, Owned<> error) noexcept;

}  // namespace guardtree
