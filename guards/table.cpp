// Tables: naive first match in insertion order.
// SPDX-License-Identifier: MIT
#include "table.h"

#include <algorithm>

#include "first_match.h"

namespace guardtree {
void Table::append(Shared<Entry> entry) {
    value_count_ = std::max(value_count_, entry->program.value_count());
    is_leaf_ = is_leaf_ && entry->program.is_leaf();
    calls_python_ = calls_python_ || entry->program.calls_python();
    entries_.push_back(std::move(entry));
}

Shared<Table> Table::without_dead() const {
    auto made = make_shared_counted<Table>();
    made->entries_.reserve(entries_.size() + 1);
    for (const Shared<Entry>& entry : entries_) {
        if (!entry->program.is_dead()) made->append(entry);
    }
    return made;
}

Shared<Table> Table::with(Shared<Entry> entry) const {
    Shared<Table> made = without_dead();
    made->append(std::move(entry));
    return made;
}

bool Table::has_dead() const noexcept {
    return std::ranges::any_of(
        entries_, [](const Shared<Entry>& entry) { return entry->program.is_dead(); });
}

namespace {

/// A traceback would keep the frames it went through, and all their locals, alive; so
/// would those of the exceptions that led to this one.
void drop_tracebacks(PyObject* exception, int depth) noexcept {
    if (!exception || !PyExceptionInstance_Check(exception) || depth > 64) return;
    PyException_SetTraceback(exception, Py_None);
    const auto context = Owned<>::steal(PyException_GetContext(exception));
    const auto cause = Owned<>::steal(PyException_GetCause(exception));
    drop_tracebacks(context.get(), depth + 1);
    if (cause.get() != context.get()) drop_tracebacks(cause.get(), depth + 1);
}

}  // namespace

void keep_error(const Entry& entry, Owned<> error) noexcept {
    ++entry.errors;
    drop_tracebacks(error.get(), 0);
    entry.last_error = std::move(error);
}

const Entry* lookup(const Table& table, const View& view, PyObject** values) noexcept {
    return first_match(table, view, values);
}

}  // namespace guardtree
