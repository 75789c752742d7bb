// The look-up of a table, inline: for the hook, whose hit path it is half of.
// SPDX-License-Identifier: MIT
#pragma once
#include "table.h"
#include "walk.h"

namespace guardtree {

/// Keeps a guard's exception in its entry, for people.
[[gnu::cold]] void keep_error(const Entry& entry, Owned<> error) noexcept;

/// What lookup does (table.h), over a view or the slots of one.
template <Walkable W>
const Entry* first_match(const Table& table, const W& view,
                         PyObject** values) noexcept {
    for (const Shared<Entry>& entry : table.entries()) {
        Owned<> error;
        NoObserver observer;
        const Verdict verdict = walk(entry->program, view, values, error, observer);
        if (verdict == Verdict::pass) [[likely]]
            return entry.get();
        if constexpr (std::same_as<W, View>) {  // leaf kinds do not raise
            if (verdict == Verdict::error) [[unlikely]] {
                if (!error) return nullptr;
                keep_error(*entry, std::move(error));
            }
        }
    }
    return nullptr;
}

}  // namespace guardtree
