// The entries of guarded calls: added, removed, counted. served_call.cpp serves a call.
// SPDX-License-Identifier: MIT
#include "../framelocals/cpython/cpython.h"

#include "guarded_calls.h"

#include <algorithm>
#include <string>
#include <utility>

#include "dispatch.h"
#include "function_like.h"
#include "replacement.h"
#include "substitution.h"

namespace guardtree {

vectorcallfunc plain_entry = nullptr;

GuardedCalls::GuardedCalls(PyFunctionObject* function, Identity identity) noexcept
    : function_(identity),
      code_(Owned<PyCodeObject>::share(
          reinterpret_cast<PyCodeObject*>(function->func_code))) {
    set_table(std::move(table_));
}

bool GuardedCalls::find_plain_entry(PyFunctionObject* function) noexcept {
    if (plain_entry) return true;
    const auto fresh =
        Owned<>::steal(PyFunction_New(function->func_code, function->func_globals));
    if (!fresh) return false;
    plain_entry = reinterpret_cast<PyFunctionObject*>(fresh.get())->vectorcall;
    return true;
}

PyFunctionObject* GuardedCalls::function() const noexcept {
    if (function_.is_dead()) return nullptr;
    return reinterpret_cast<PyFunctionObject*>(function_.object);
}

void GuardedCalls::set_table(Shared<Table> table) noexcept {
    PyCodeObject* code = code_.get();
    const auto is_in_vector = [&](const SlotName& name) {
        return name.slot < code->co_argcount || name.slot >= first_free_slot(code);
    };
    const auto binds = [](const Shared<Entry>& entry) {
        return entry->program.captured() != nullptr;
    };
    const bool is_positional = has_only_positional_slots(code);
    const bool is_direct = is_positional && !table->calls_python() &&
                           std::ranges::none_of(table->entries(), binds) &&
                           table->value_count() <= few_values &&
                           std::ranges::all_of(table->names(), is_in_vector);
    positional_count_ = is_positional ? code->co_argcount : -1;
    direct_count_ = is_direct ? code->co_argcount : -1;
    passes_arguments_ = std::ranges::any_of(table->entries(), [](const auto& entry) {
        return entry->takes_arguments || entry->matching_code;
    });
    std::swap(table_, table);  // what goes may run user code: all is set by then
}

namespace {

/// See Entry.
Owned<PyCodeObject> matching_code(const Entry& entry, PyCodeObject* guarded) noexcept {
    PyObject* const payload = entry.payload.get();
    if (!PyFunction_Check(payload) || entry.program.captured()) return {};
    auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(payload));
    if (!same_parameters(guarded, code)) return {};
    return Owned<PyCodeObject>::share(code);
}

}  // namespace

void GuardedCalls::add(Shared<Entry> entry, bool is_made) {
    const bool makes_generators = (code_.get()->co_flags & generator_flags) != 0;
    if (is_made)
        entry->follows =
            makes_generators ? Entry::Follows::names_too : Entry::Follows::defaults;
    entry->matching_code = matching_code(*entry, code_.get());
    entry->last_use = use_clock++;  // any later hit is more recent
    Shared<Table> before, made;
    const Entry* oldest = nullptr;
    do {  // to make a table may run finalizers, and they may change ours
        before = table_;
        const bool is_full = before->entries().size() >= entry_limit;
        oldest = is_full ? before->least_recent() : nullptr;
        made = before->with(entry, oldest);
    } while (table_.get() != before.get());
    if (oldest) {
        dropped_hits_ += oldest->hits;
        ++evicted;
    }
    set_table(std::move(made));
}

bool GuardedCalls::remove(const Entry& entry) {
    Shared<Table> before, made;
    do {
        before = table_;
        made = before->without(entry);
    } while (table_.get() != before.get());
    if (made->entries().size() == before->entries().size()) return false;
    dropped_hits_ += entry.hits;
    set_table(std::move(made));
    return true;
}

uint64_t GuardedCalls::hits() const noexcept {
    uint64_t sum = dropped_hits_;
    for (const Shared<Entry>& entry : table_->entries()) sum += entry->hits;
    return sum;
}

void GuardedCalls::end() noexcept {
    is_over_ = true;
    dropped_hits_ = hits();
    Owned<> asked;
    on_miss.swap(asked);
    set_table(Table::empty());  // what goes may run user code: all is set by then
}

Owned<> GuardedCalls::function_of(PyCodeObject* replacement,
                                  PyCodeObject* called) const {
    PyFunctionObject* original = function();
    if (!original) {
        PyErr_SetString(PyExc_ReferenceError, "the guarded function is gone");
        return {};
    }
    const std::string problem = replacement_problem(code_.get(), replacement);
    if (!problem.empty()) {
        const std::string text = "this code cannot run for calls of " +
                                 short_repr(original->func_qualname) + ": " + problem;
        PyErr_SetString(PyExc_ValueError, text.c_str());
        return {};
    }
    return function_like(original, called);
}

int GuardedCalls::traverse(visitproc visit, void* arg) const {
    for (const Owned<>& each : references_) Py_VISIT(each.get());
    Py_VISIT(on_miss.get());
    Py_VISIT(plain_.get());
    Py_VISIT(kept_function_.get());
    Py_VISIT(table_->object());
    return 0;
}

Shared<DispatchedCalls> DispatchedCalls::make(PyFunctionObject* function,
                                              PyObject* plain) {
    if (!find_plain_entry(function)) return {};
    Identity identity;
    References references;
    Diagnostic problem;
    if (!Identity::read(as_object(function), identity, references, problem)) {
        PyErr_SetString(problem.exception, problem.message.c_str());
        return {};
    }
    Shared<DispatchedCalls> made(new DispatchedCalls(function, identity));
    made->references_ = std::move(references);
    made->kept_function_ = Owned<>::share(as_object(function));
    made->plain_ = Owned<>::share(plain);
    made->is_bare_ = !plain;
    return made;
}

PyObject* DispatchedCalls::call(DispatchedCalls& calls, const VectorCall& call) {
    if (is_out_of_stack()) [[unlikely]]
        return raise_recursion();
    auto* function = reinterpret_cast<PyFunctionObject*>(calls.kept_function_.get());
    return dispatch<false>(calls, function, call);
}

}  // namespace guardtree
