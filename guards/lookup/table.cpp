// Tables: add entries, find the first that passes.
// SPDX-License-Identifier: MIT
#include "table.h"

#include <algorithm>

#include "../program/captured_values.h"

#include "first_match.h"

namespace guardtree {
namespace {

/// With fewer entries, trying them all is as fast: with one question that separates all
/// entries, and with several questions (bench `table`).
constexpr size_t least_for_one_question = 4;
constexpr size_t least_for_several = 16;

}  // namespace

bool Entry::let_payload_go() noexcept {
    auto weak = Owned<>::steal(PyWeakref_NewRef(payload.get(), nullptr));
    if (!weak) return false;
    payload_owner_ = std::move(weak);
    return true;
}

PyObject* Entry::living_payload() const noexcept {
    PyObject* owner = payload_owner_.get();
    if (owner == payload.get()) return owner;
    return reinterpret_cast<PyWeakReference*>(owner)->wr_object == payload.get()
               ? payload.get()
               : nullptr;
}

int Entry::traverse(visitproc visit, void* arg) const {
    Py_VISIT(payload_owner_.get());
    Py_VISIT(source.get());
    Py_VISIT(meaning.get());
    Py_VISIT(names.get());
    Py_VISIT(last_error.get());
    for (const Owned<>& kept : program.references()) Py_VISIT(kept.get());
    return 0;
}

Shared<Table> Table::empty() noexcept {
    static Table table;
    return Shared<Table>(&table);
}

int Table::traverse(visitproc visit, void* arg) const {
    for (const Shared<Entry>& entry : entries_) Py_VISIT(entry->object());
    return 0;
}

void Table::append(Shared<Entry> entry) {
    value_count_ = std::max(value_count_, entry->program.value_count());
    max_captured_ = std::max(max_captured_, captured_count(entry->program));
    is_leaf_ = is_leaf_ && entry->program.is_leaf();
    calls_python_ = calls_python_ || entry->program.calls_python();
    for (const SlotName& name : entry->program.names()) {
        const auto same = [&](const SlotName& each) { return each.slot == name.slot; };
        if (std::ranges::none_of(names_, same)) names_.push_back(name);
    }
    entries_.push_back(std::move(entry));
}

Shared<Table> Table::of(std::span<const Shared<Entry>> entries) {
    auto made = make_shared_counted<Table>();
    for (const Shared<Entry>& entry : entries) made->append(entry);
    made->make_decision();
    return made;
}

template <class Keeps>
Shared<Table> Table::only(Keeps keeps) const {
    auto made = make_shared_counted<Table>();
    made->entries_.reserve(entries_.size() + 1);
    std::vector<const Entry*> dropped;
    for (const Shared<Entry>& entry : entries_) {
        if (keeps(*entry))
            made->append(entry);
        else
            dropped.push_back(entry.get());
    }
    made->decided_for_ = decided_for_;
    made->changes_ = changes_ + dropped.size();
    if (!dropped.empty() && (!decision_ || made->is_stale())) {
        made->make_decision();
        return made;
    }
    if (decision_) made->decision_ = std::make_unique<Decision>(*decision_);
    const bool are_removed = std::ranges::all_of(
        dropped, [&](const Entry* each) { return made->decision_->remove(*each); });
    if (are_removed)
        made->find_only_split();
    else
        made->make_decision();
    return made;
}

Shared<Table> Table::without_dead() const {
    return only([](const Entry& entry) { return !entry.program.is_dead(); });
}

Shared<Table> Table::without(const Entry& entry) const {
    return only([&](const Entry& each) { return &each != &entry; });
}

Shared<Table> Table::with(Shared<Entry> entry, const Entry* instead) const {
    Shared<Table> made = only(
        [&](const Entry& each) { return &each != instead && !each.program.is_dead(); });
    made->append(std::move(entry));
    made->decide();
    return made;
}

void Table::decide() {
    ++changes_;
    if (is_stale()) {
        make_decision();
    } else if (decision_) {
        decision_->append(*entries_.back());
        find_only_split();
    }
}

void Table::make_decision() {
    decided_for_ = entries_.size();
    changes_ = 0;
    decision_.reset();
    if (entries_.size() >= least_for_one_question) {
        std::vector<Candidate> all;
        all.reserve(entries_.size());
        for (const Shared<Entry>& entry : entries_)
            all.push_back({entry.get(), static_cast<uint32_t>(all.size())});
        auto made = std::make_unique<Decision>(all);
        const bool is_worth_it = all.size() >= least_for_several && made->has_splits();
        if (made->only_split() || is_worth_it) decision_ = std::move(made);
    }
    find_only_split();
}

void Table::find_only_split() noexcept {
    only_split_ = decision_ && !calls_python_ ? decision_->only_split() : nullptr;
    is_disjoint_ = only_split_ && decision_->is_disjoint();
}

const Entry* Table::least_recent() const noexcept {
    const Entry* found = nullptr;
    for (const Shared<Entry>& entry : entries_) {
        if (!found || entry->last_use < found->last_use) found = entry.get();
    }
    return found;
}

bool Table::has_dead() const noexcept {
    return std::ranges::any_of(
        entries_, [](const Shared<Entry>& entry) { return entry->program.is_dead(); });
}

namespace {

/// Removes tracebacks, which would keep their frames and all their locals alive, also
/// from the exceptions that led to this one.
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

namespace {

/// The run whose next candidate comes first. Null if all runs have ended.
[[gnu::always_inline]] inline Run* next_of(Run* runs, const Run* end) noexcept {
    if (end - runs == 1) [[likely]]
        return runs->at == runs->end ? nullptr : runs;
    Run* first = nullptr;
    for (Run* run = runs; run != end; ++run) {
        if (run->at == run->end) continue;
        if (!first || run->at->order < first->at->order) first = run;
    }
    return first;
}

void skip_before(Run* runs, const Run* end, uint32_t order) noexcept {
    for (Run* run = runs; run != end; ++run)
        run->at =
            std::ranges::lower_bound(run->at, run->end, order, {}, &Candidate::order);
}

/// The number of candidates that are left in a run.
size_t count_of(const Run& run) noexcept {
    return static_cast<size_t>(run.end - run.at);
}

}  // namespace

/// The look-up with any decision, after its questions are answered.
template <Walkable W>
[[gnu::noinline]] const Entry* gathered_match(const Table& table, const W& view,
                                              PyObject** values) noexcept {
    const Decision& decision = *table.decision();
    Run runs[Decision::max_runs];
    const Run* end = decision.gather(view, runs);
    size_t tried_count = 0;
    for (Run* run = next_of(runs, end); run; run = next_of(runs, end)) {
        const Candidate& candidate = *run->at++;
        ++tried_count;
        const Entry& entry = *candidate.entry;
        const Tried tried = try_entry(entry, view, values);
        if (tried == Tried::passed) [[likely]]
            return &entry;
        if (tried == Tried::raised) return nullptr;
        if (!entry.program.calls_python()) continue;
        // User code may have changed the keys, which matters unless the only run is of
        // all entries. Several runs may have an entry in common.
        const bool is_of_all =
            end - runs == 1 && tried_count + count_of(*runs) == table.entries().size();
        if (!is_of_all) {
            const uint32_t next = candidate.order + 1;
            end = decision.gather(view, runs);
            skip_before(runs, end, next);
        }
    }
    return nullptr;
}

/// The look-up of a table with only one question (Table::only_split).
template <Walkable W>
[[gnu::always_inline]] inline const Entry* split_match(const Table& table,
                                                       const Split& split,
                                                       const W& view,
                                                       PyObject** values) noexcept {
    const Entry* const again = table.repeated();
    const Entry* entry = again;
    while (true) {
        if (!entry) [[likely]] {
            const Bucket* const bucket = split.find(view);
            if (!bucket) return nullptr;
            entry = bucket->only().entry;
            if (!entry) [[unlikely]]
                return gathered_match(table, view, values);
        }
        const Tried tried = try_entry(*entry, view, values);
        if (tried == Tried::passed) [[likely]] {
            if (entry != again) table.remember_hit(*entry);
            return entry;
        }
        if (!table.repeated()) return nullptr;
        table.forget_hits();
        entry = nullptr;
    }
}

template <Walkable W>
const Entry* decided_match(const Table& table, const W& view,
                           PyObject** values) noexcept {
    if (const Split* split = table.only_split()) [[likely]]
        return split_match(table, *split, view, values);
    return gathered_match(table, view, values);
}

template const Entry* decided_match(const Table&, const View&, PyObject**) noexcept;
template const Entry* decided_match(const Table&, const LeafSlots&,
                                    PyObject**) noexcept;

}  // namespace guardtree
