// Tables of the C interface: entries with payloads of C clients, counters, look-ups.
// SPDX-License-Identifier: MIT
//
// A look-up that runs no user code uses only the table and the client's scratch. A
// look-up that may run user code is independent of the client: it holds the table and
// the entries, uses its own memory (a check may look up with the same scratch), and
// returns the entry only if it is still in the table.
#include <Python.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "../framelocals/exception.h"
#include "../guards/lookup/lookup.h"
#include "../guards/run/explain.h"

#include "handles.h"

namespace guardtree {
namespace {

/// The payload object of an entry of such a table.
struct PayloadObject {
    PyObject base;
    void* pointer;
    void (*destroy)(void*);
    uint64_t entry;
};

const PayloadObject& payload_of(const Entry& entry) noexcept {
    return *reinterpret_cast<const PayloadObject*>(entry.payload.get());
}

void end_payload(PyObject* self) {
    const auto* payload = reinterpret_cast<PayloadObject*>(self);
    PyTypeObject* type = Py_TYPE(self);
    if (payload->destroy) {
        const ExceptionPause pause;
        payload->destroy(payload->pointer);
        if (PyErr_Occurred()) PyErr_WriteUnraisable(nullptr);
    }
    type->tp_free(self);
    Owned<PyTypeObject>::steal(type).reset();
}

/// Null with an exception set.
PyTypeObject* payload_type() {
    static PyTypeObject* made = nullptr;
    if (made) return made;
    static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(end_payload)},
                                  {0, nullptr}};
    static PyType_Spec spec = {"guardtree.Payload", sizeof(PayloadObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                   Py_TPFLAGS_IMMUTABLETYPE,
                               slots};
    made = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    return made;
}

Owned<> new_payload(void* pointer, void (*destroy)(void*), uint64_t entry) {
    PyTypeObject* type = payload_type();
    if (!type) return {};
    auto made = Owned<>::steal(type->tp_alloc(type, 0));
    if (!made) return {};
    auto* payload = reinterpret_cast<PayloadObject*>(made.get());
    payload->pointer = pointer;
    payload->destroy = destroy;
    payload->entry = entry;
    return made;
}

const Entry* find_entry(const Table& table, uint64_t number) noexcept {
    for (const Shared<Entry>& each : table.entries()) {
        if (payload_of(*each).entry == number) return each.get();
    }
    return nullptr;
}

void raise_no_entry(uint64_t number) noexcept {
    PyErr_Format(PyExc_LookupError, "the table has no entry %llu (any more)",
                 static_cast<unsigned long long>(number));
}

int found_entry(const Entry& entry, guardtree_found& found) noexcept {
    note_hit(entry);
    const PayloadObject& payload = payload_of(entry);
    found.payload = payload.pointer;
    found.entry = payload.entry;
    return GUARDTREE_HIT;
}

/// Passes on the captured values. If `to` is null, they are not wanted.
template <class AnyLookup>
void hand_over(AnyLookup& lookup, guardtree_captured* to) noexcept {
    if (!to || !lookup.has_values()) return;
    lookup.take(to->values);
    to->count = lookup.value_count();
}

/// The look-up of a table that may run user code.
[[gnu::noinline]] int look_up_pinned(guardtree_table* given, guardtree_view* view,
                                     PyObject**, size_t, guardtree_found* found,
                                     guardtree_captured* captured) {
    PyThreadState* const thread = PyThreadState_Get();
    if (has_exception(thread)) [[unlikely]]
        return GUARDTREE_EXCEPTION;  // the client had an exception pending already
    constexpr auto mode = Lookup::Mode::user_code;
    guardtree_table& table = *given;
    HeldView& held = *HeldView::of(view);
    const Table& entries = *table.entries;
    const Shared<guardtree_table> pinned(&table);
    const ViewUse use(held);
    Lookup lookup(entries, *held.view,
                  GUARDTREE_ROOM(Lookup::room(entries, *held.view, mode)), mode,
                  thread);
    const Entry* entry = lookup.find();
    if (!entry) {
        ++table.misses;
        return PyErr_Occurred() ? GUARDTREE_EXCEPTION : GUARDTREE_MISS;
    }
    lookup.close();  // closing may run user code, too
    const bool is_there = table.entries.get() == &entries ||
                          find_entry(*table.entries, payload_of(*entry).entry);
    if (!is_there) [[unlikely]]
        return GUARDTREE_MISS;
    hand_over(lookup, captured);
    return found_entry(*entry, *found);
}

[[gnu::cold]] int refused_room(const PyObject* const* scratch) noexcept {
    return scratch ? GUARDTREE_TOO_SMALL : GUARDTREE_NULL;
}

/// The look-up of a table whose guards fetch values but run no user code. It has the
/// parameters of look_up, so that no argument must be moved.
template <bool captures = true>
[[gnu::noinline]] int look_up_values(guardtree_table* table, guardtree_view* view,
                                     PyObject** scratch, size_t size,
                                     guardtree_found* found,
                                     guardtree_captured* captured) {
    const Table& entries = *table->entries;
    if ((scratch ? size : 0) < entries.value_count()) [[unlikely]]
        return refused_room(scratch);
    QuietLookup lookup(entries, *HeldView::of(view)->view, scratch);
    const Entry* entry = lookup.find();
    if (!entry) {
        ++table->misses;
        return GUARDTREE_MISS;
    }
    if constexpr (captures) hand_over(lookup, captured);
    return found_entry(*entry, *found);
}

/// The look-up of a table with only leaf kinds on locals.
[[gnu::noinline]] int look_up_leaf(guardtree_table* table, guardtree_view* view,
                                   PyObject**, size_t, guardtree_found* found,
                                   guardtree_captured*) noexcept {
    const SlotWord* const slots = HeldView::of(view)->view->slots();
    const Entry* entry = Lookup::in_slots(*table->entries, slots);
    if (entry) [[likely]]
        return found_entry(*entry, *found);
    ++table->misses;
    return GUARDTREE_MISS;
}

[[gnu::cold]] int refused_view(const HeldView& held) noexcept {
    return held.is_made() ? GUARDTREE_OTHER_CODE : GUARDTREE_NO_VIEW;
}

/// The common code of both look-up functions. `captured` may be null. It ends in tail
/// calls with the same arguments, so it needs no stack frame.
[[gnu::always_inline]] inline int look_up(guardtree_table* table, guardtree_view* view,
                                          PyObject** scratch, size_t size,
                                          guardtree_found* found,
                                          guardtree_captured* captured) {
    if (!table || !view || !found) [[unlikely]]
        return GUARDTREE_NULL;
    const HeldView& held = *HeldView::of(view);
    if (!held.is_made_of(table->living_code())) [[unlikely]]
        return refused_view(held);
    switch (table->way) {
    case guardtree_table::Way::leaf:
        return look_up_leaf(table, view, scratch, size, found, captured);
    case guardtree_table::Way::values:
        return look_up_values<false>(table, view, scratch, size, found, captured);
    case guardtree_table::Way::captured:
        return look_up_values(table, view, scratch, size, found, captured);
    case guardtree_table::Way::pinned: break;
    }
    return look_up_pinned(table, view, scratch, size, found, captured);
}

/// Returns false, with IndexError set, if one of them is not a node with a value.
bool read_nodes(std::span<const int64_t> nodes, const Tree& tree,
                std::vector<NodeId>& to) {
    const auto end = static_cast<int64_t>(tree.node_count());
    for (const int64_t node : nodes) {
        if (node < 1 || node >= end) {
            PyErr_Format(
                PyExc_IndexError,
                "table_add_capturing: expected numbers that tree_step gave for "
                "this tree, found %lld",
                static_cast<long long>(node));
            return false;
        }
        to.push_back(static_cast<NodeId>(node));
    }
    return true;
}

/// Replaces the entries. The old ones are released last, because that may run user
/// code.
void set_entries(guardtree_table& table, Shared<Table> entries) noexcept {
    const size_t most = entries->max_captured();
    table.max_captured = most;
    using Way = guardtree_table::Way;
    table.way = entries->calls_python() ? Way::pinned
                : most                  ? Way::captured
                : entries->is_leaf()    ? Way::leaf
                                        : Way::values;
    std::swap(table.entries, entries);
}

}  // namespace

namespace c_functions {

guardtree_table* table_new(PyObject* scope) {
    if (!scope) {
        raise_null("table_new");
        return nullptr;
    }
    OwnedScope held;
    if (!OwnedScope::of(scope, held)) return nullptr;
    Shared<guardtree_table> made(new guardtree_table());
    Diagnostic problem;
    const bool is_read =
        Identity::read(held.code.object(), made->code, made->references, problem) &&
        (!held.function || Identity::read(held.function.get(), made->function,
                                          made->references, problem));
    if (!is_read) {
        raise_diagnostic(problem);
        return nullptr;
    }
    guardtree_table* table = made.get();
    table->own = std::move(made);
    return table;
}

void table_free(guardtree_table* table) {
    if (!table) return;
    const Shared<guardtree_table> own = std::move(table->own);
    set_entries(*table, Table::empty());
}

uint64_t table_add(guardtree_table* table, const guardtree_tree* tree, void* payload,
                   void (*destroy)(void*)) {
    return table_add_capturing(table, tree, payload, destroy, nullptr, 0);
}

uint64_t table_add_capturing(guardtree_table* table, const guardtree_tree* tree,
                             void* payload, void (*destroy)(void*),
                             const int64_t* nodes, size_t count) {
    if (!table || !tree || (count && !nodes)) {
        raise_null(count ? "table_add_capturing" : "table_add");
        return 0;
    }
    if (!table->own || table->code.is_dead()) {
        PyErr_SetString(PyExc_ValueError,
                        "table_add: the table was freed, or its code is gone");
        return 0;
    }
    Program program;
    Diagnostic problem;
    auto* code = reinterpret_cast<PyCodeObject*>(table->code.object);
    std::vector<NodeId> captured;
    if (!read_nodes({nodes, count}, tree->tree, captured)) return 0;
    Tree room;
    const Tree* guards = demanding(tree->tree, captured, room, problem);
    if (!guards ||
        !Program::compile(*guards, code, program, problem, nullptr, captured)) {
        raise_diagnostic(problem);
        return 0;
    }
    const uint64_t number = table->last_entry + 1;
    Owned<> kept = new_payload(payload, destroy, number);
    if (!kept) return 0;
    table->last_entry = number;
    set_entries(*table, table->entries->with(make_shared_counted<Entry>(
                            std::move(program), std::move(kept), Owned<>())));
    return number;
}

int table_remove(guardtree_table* table, uint64_t entry) {
    if (!table) {
        raise_null("table_remove");
        return -1;
    }
    const Shared<Table> before = table->entries;
    const Entry* found = find_entry(*before, entry);
    if (!found) {
        raise_no_entry(entry);
        return -1;
    }
    set_entries(*table, before->without(*found));
    return 0;
}

size_t table_captured(const guardtree_table* table) {
    return table ? table->max_captured : 0;
}

size_t table_scratch(const guardtree_table* table) {
    return table ? table->entries->value_count() : 0;
}

int table_counts(const guardtree_table* table, uint64_t entry, guardtree_counts* to,
                 size_t size) {
    if (!table || !to) {
        raise_null("table_counts");
        return -1;
    }
    guardtree_counts counts = {0, 0, table->misses, 0};
    for (const Shared<Entry>& each : table->entries->entries()) {
        if (entry && payload_of(*each).entry != entry) continue;
        ++counts.entries;
        counts.hits += each->hits;
        counts.errors += each->errors;
    }
    if (entry && !counts.entries) {
        raise_no_entry(entry);
        return -1;
    }
    std::memset(to, 0, size);
    std::memcpy(to, &counts, std::min(size, sizeof(counts)));
    return 0;
}

PyObject* table_explain(guardtree_table* table, guardtree_view* view) {
    if (!table || !view) {
        raise_null("table_explain");
        return nullptr;
    }
    HeldView& held = *HeldView::of(view);
    if (!held.is_made_of(table->living_code())) {
        PyErr_SetString(PyExc_ValueError, answer_text(refused_view(held)));
        return nullptr;
    }
    const Shared<Table> entries = table->entries;
    const ViewUse use(held);
    std::string text;
    for (const Shared<Entry>& each : entries->entries()) {
        Explanation explanation;
        if (!explain(each->program, *held.view, explanation)) return nullptr;
        text += "entry " + std::to_string(payload_of(*each).entry) + ": " +
                explanation.text() + "\n";
    }
    return PyUnicode_FromStringAndSize(text.data(),
                                       static_cast<Py_ssize_t>(text.size()));
}

int lookup(guardtree_table* table, guardtree_view* view, PyObject** scratch,
           size_t size, guardtree_found* found) {
    return look_up(table, view, scratch, size, found, nullptr);
}

int lookup_captured(guardtree_table* table, guardtree_view* view, PyObject** scratch,
                    size_t size, guardtree_found* found, guardtree_captured* captured) {
    if (!table || !captured) return GUARDTREE_NULL;
    captured->count = 0;
    if (captured->size < table->max_captured) return GUARDTREE_TOO_SMALL;
    if (table->max_captured && !captured->values) return GUARDTREE_NULL;
    return look_up(table, view, scratch, size, found, captured);
}

}  // namespace c_functions
}  // namespace guardtree
