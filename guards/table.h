// Entries of one code object, and the look-up of the first whose guards pass.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <vector>

#include "evaluate.h"

namespace guardtree {

/// A program and what runs when it passes. Shared by tables and by whoever looks at it.
/// Program, payload and source never change; the counters are for people and decide
/// nothing.
struct Entry : Counted {
    Entry(Program guards, Owned<> what, Owned<> from) noexcept
        : program(std::move(guards)),
          payload(std::move(what)),
          source(std::move(from)) {}

    const Program program;
    const Owned<> payload;  ///< replacement code, or what a third party wants back
    const Owned<>
        source;  ///< what the guards were given as: a GuardManager, a callable
    mutable uint64_t hits = 0;
    mutable uint64_t errors = 0;
    mutable Owned<>
        last_error;  ///< the last exception of a guard that was not let through
};

/// Immutable once made: adding or removing makes a new table, so a look-up that runs
/// user code keeps the one it began with. Order is insertion order, oldest first.
class Table : public Counted {
public:
    Table() noexcept = default;

    /// This table's live entries and `entry` at the end.
    Shared<Table> with(Shared<Entry> entry) const;

    /// This table without entries whose guards can never pass again.
    Shared<Table> without_dead() const;

    bool has_dead() const noexcept;

    const std::vector<Shared<Entry>>& entries() const noexcept { return entries_; }

    uint16_t value_count() const noexcept { return value_count_; }

    bool calls_python() const noexcept { return calls_python_; }

    /// Every program is a leaf (program.h): lookup_leaf serves.
    bool is_leaf() const noexcept { return is_leaf_; }

private:
    void append(Shared<Entry> entry);

    std::vector<Shared<Entry>> entries_;
    uint16_t value_count_ = 0;
    bool calls_python_ = false;
    bool is_leaf_ = true;
};

/// The first entry of `table` whose guards pass, or null. Null with an exception
/// pending when one must reach the program; every other exception of a guard is kept in
/// its entry. `values` has room for table.value_count(). The caller keeps `table` alive
/// (pins it when it calls_python()). Needs the GIL.
const Entry* lookup(const Table& table, const View& view, PyObject** values) noexcept;

}  // namespace guardtree
