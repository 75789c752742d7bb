// The walks of a table's look-up, inline. Only Lookup (lookup.h) calls them.
// SPDX-License-Identifier: MIT
#pragma once
#include "../run/walk.h"

#include "table.h"

namespace guardtree {

enum class Tried : uint8_t { failed, passed, raised };

/// Walks one entry. `passed`: its captured values belong to the caller
/// (captured_values.h). `raised`: an exception is pending that must reach the program.
/// Other exceptions are stored in the entry.
template <Walkable W>
[[gnu::always_inline]] inline Tried try_entry(const Entry& entry, const W& view,
                                              PyObject** values) noexcept {
    Owned<> error;
    NoObserver observer;
    const Verdict verdict = walk(entry.program, view, values, error, observer);
    if (verdict == Verdict::pass) [[likely]]
        return Tried::passed;
    if constexpr (std::same_as<W, View>) {  // leaf kinds do not raise
        if (verdict == Verdict::error) [[unlikely]] {
            if (!error) return Tried::raised;
            keep_error(entry, std::move(error));
        }
    }
    return Tried::failed;
}

/// Tries entries one by one in insertion order. This is the look-up of tables without a
/// decision, and every decision must give the same answer.
template <Walkable W>
const Entry* scan(const Table& table, const W& view, PyObject** values) noexcept {
    for (const Shared<Entry>& entry : table.entries()) {
        const Tried tried = try_entry(*entry, view, values);
        if (tried == Tried::passed) [[likely]]
            return entry.get();
        if (tried == Tried::raised) return nullptr;
    }
    return nullptr;
}

/// The look-up of tables with a decision.
template <Walkable W>
[[gnu::noinline]] const Entry* decided_match(const Table& table, const W& view,
                                             PyObject** values) noexcept;

extern template const Entry* decided_match(const Table&, const View&,
                                           PyObject**) noexcept;
extern template const Entry* decided_match(const Table&, const LeafSlots&,
                                           PyObject**) noexcept;

/// The first entry of `table` whose guards pass on a view or on its slots, or null. If
/// it returns null with an exception pending, that exception must reach the program.
/// Other exceptions of guards are stored in their entry. `values` has room for
/// value_count() values.
template <Walkable W>
const Entry* first_match(const Table& table, const W& view,
                         PyObject** values) noexcept {
    if (table.decision()) return decided_match(table, view, values);
    return scan(table, view, values);
}

}  // namespace guardtree
