// Entries of one code object, and the look-up of the first whose guards pass.
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

/// A program and what runs when it passes. Shared by tables and by whoever looks at it.
/// Program, payload and source never change; the counters are for people and decide
/// nothing. Aligned, so that what an evaluation reads is in one cache line.
struct Entry : OnCacheLines, Collected {
    Entry(Program guards, Owned<> what, Owned<> from) noexcept
        : program(std::move(guards)),
          payload(what.get()),
          source(std::move(from)),
          payload_owner_(std::move(what)) {}

    const Program program;
    const Borrowed<> payload;  ///< replacement code, or what a third party wants back
    const Owned<>
        source;       ///< what the guards were given as: a GuardManager, a callable
    Owned<> meaning;  ///< for strict mode: what the oracle judges by, or null
    Owned<> names;    ///< a tuple: of the values that it hands over; null for none
    mutable uint64_t hits = 0;
    mutable uint64_t errors = 0;
    mutable uint64_t last_use = 0;  ///< by use_clock
    /// What the payload, a function, takes over of the guarded one at each call.
    enum class Follows : uint8_t { nothing, defaults, names_too };
    Follows follows = Follows::nothing;
    mutable Owned<>
        last_error;  ///< the last exception of a guard that was not let through
    /// With replacement code: where those values go, by the names.
    std::vector<uint16_t> slots;

    /// Refers weakly to a payload that keeps this entry, which would keep itself alive
    /// where the collector does not see it. False with an exception set.
    bool let_payload_go() noexcept;

    /// The payload, or null where it was let go and has died.
    PyObject* living_payload() const noexcept;

    int traverse(visitproc visit, void* arg) const;

private:
    Owned<> payload_owner_;  ///< the payload, or a weak reference to it
};

/// Counts misses and new entries of all tables: how long ago an entry was used is told
/// by this clock, since only then one may have to go. A hit reads it.
[[gnu::visibility("hidden")]] inline uint64_t use_clock = 0;

inline void note_hit(const Entry& entry) noexcept {
    ++entry.hits;
    entry.last_use = use_clock;
}

/// Immutable once made: adding or removing makes a new table, so a look-up that runs
/// user code keeps the one it began with. Order is insertion order, oldest first.
class Table : public Collected {
public:
    Table() noexcept = default;

    /// The table without entries. Allocates nothing.
    static Shared<Table> empty() noexcept;

    int traverse(visitproc visit, void* arg) const;

    /// A table of entries in this order. O(their keys).
    static Shared<Table> of(std::span<const Shared<Entry>> entries);

    /// This table's live entries but `instead`, and `entry` at the end.
    Shared<Table> with(Shared<Entry> entry, const Entry* instead = nullptr) const;

    /// This table without entries whose guards can never pass again.
    Shared<Table> without_dead() const;

    /// This table without one entry.
    Shared<Table> without(const Entry& entry) const;

    bool has_dead() const noexcept;

    /// The entry that was used longest ago; null of an empty table. O(entries).
    const Entry* least_recent() const noexcept;

    const std::vector<Shared<Entry>>& entries() const noexcept { return entries_; }

    /// What all programs read from slots, for views over mappings.
    std::span<const SlotName> names() const noexcept { return names_; }

    uint16_t value_count() const noexcept { return value_count_; }

    /// The most values that an entry hands over.
    size_t most_bound() const noexcept { return most_bound_; }

    bool calls_python() const noexcept { return calls_python_; }

    /// Every program is a leaf (program.h): LeafSlots serve.
    bool is_leaf() const noexcept { return is_leaf_; }

    /// What finds the entries that can pass; null: they are tried one by one.
    const Decision* decision() const noexcept { return decision_.get(); }

    /// The question of a decision that has but one, in a table that runs no user code:
    /// what it finds, where that is one entry, can alone pass. Else null.
    const Split* only_split() const noexcept { return only_split_; }

    /// The entry that the last look-ups hit one after another, where whichever passes
    /// is the answer and none runs user code; else null. It is tried first.
    const Entry* repeated() const noexcept { return repeated_; }

    /// Of an entry that is not `repeated`.
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

    /// Takes the last entry into the decision. Now and then it is made anew, so that
    /// its questions suit what is there: adding is O(entries), with a small factor.
    void decide();

    void make_decision();

    void find_only_split() noexcept;

    // What a look-up reads comes first.
    const Split* only_split_ = nullptr;
    mutable const Entry* repeated_ = nullptr;
    mutable const Entry* last_hit_ = nullptr;
    std::unique_ptr<Decision> decision_;
    std::vector<Shared<Entry>> entries_;
    uint16_t value_count_ = 0;
    bool calls_python_ = false;
    bool is_leaf_ = true;
    bool is_disjoint_ = false;  ///< with only_split_: no view passes two entries
    std::vector<SlotName> names_;
    size_t most_bound_ = 0;
    size_t decided_for_ = 0;  ///< entries that there were when it was made
};

/// Keeps a guard's exception in its entry, for people.
[[gnu::cold]] void keep_error(const Entry& entry, Owned<> error) noexcept;

}  // namespace guardtree
