// Looking calls up, binding their arguments, calling what was found.
// SPDX-License-Identifier: MIT
//
// How it works. Where each argument is given by position, none is bound: the vector of
// a call is the first slots of the frame that it would make (dispatch.h). All else is
// bound as the callee would (ArgumentsView), here.
//
// Requirements that a change must keep: 1. nothing of a GuardedCalls is touched after
// the payload is called, or after user code ran without a pin: either may end it; 2. a
// table that runs user code, or reads slots that are no arguments, is never looked up
// in the vector; 3. where user code may run before the call is passed on, the call is
// held (HeldCall, or the slots of HeldSlotsView).
#include "../framelocals/cpython/cpython.h"

#include "guarded_calls.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "../framelocals/no_memory.h"
#include "../guards/lookup/lookup.h"

#include "dispatch.h"
#include "function_like.h"
#include "hook.h"
#include "replacement.h"
#include "substitution.h"

namespace guardtree {

vectorcallfunc plain_entry = nullptr;

namespace {

MissAnswer miss_answer = nullptr;

}  // namespace

void set_miss_answer(MissAnswer answer) noexcept {
    miss_answer = answer;
}

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
    constexpr int star_flags = CO_VARARGS | CO_VARKEYWORDS;
    const auto is_in_vector = [&](const SlotName& name) {
        return name.slot < code->co_argcount || name.slot >= first_free_slot(code);
    };
    const auto binds = [](const Shared<Entry>& entry) {
        return entry->program.bound() != nullptr;
    };
    const bool is_positional =
        !(code->co_flags & star_flags) && code->co_kwonlyargcount == 0;
    const bool is_direct = is_positional && !table->calls_python() &&
                           std::ranges::none_of(table->entries(), binds) &&
                           table->value_count() <= few_values &&
                           std::ranges::all_of(table->names(), is_in_vector);
    positional_count_ = is_positional ? code->co_argcount : -1;
    direct_count_ = is_direct ? code->co_argcount : -1;
    std::swap(table_, table);  // what goes may run user code: all is set by then
}

void GuardedCalls::add(Shared<Entry> entry, bool is_made) {
    const bool makes_generators = (code_.get()->co_flags & generator_flags) != 0;
    if (is_made)
        entry->follows =
            makes_generators ? Entry::Follows::names_too : Entry::Follows::defaults;
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

namespace {

/// Gives `target`, which is held, what it follows. What it had may run user code.
[[gnu::cold, gnu::noinline]] void follow(PyObject* target,
                                         const PyFunctionObject* function) {
    const auto positional = Owned<>::share(function->func_defaults);
    const auto named = Owned<>::share(function->func_kwdefaults);
    const auto or_none = [](const Owned<>& given) {
        return given ? given.get() : Py_None;
    };
    if (PyFunction_SetDefaults(target, or_none(positional)) < 0 ||
        PyFunction_SetKwDefaults(target, or_none(named)) < 0)
        PyErr_Clear();  // they are what a function may have
    take_names(reinterpret_cast<PyFunctionObject*>(target), function);
}

/// Whether `target`, which follows names too, has to be given something.
bool is_behind(PyObject* target, const PyFunctionObject* function) noexcept {
    const auto* made = reinterpret_cast<const PyFunctionObject*>(target);
    return !has_defaults_of(made, function) || !has_names_of(made, function);
}

/// What a hit hands over, as a tuple; null with MemoryError. `room`: as many words. The
/// values are held before the tuple is made, as that may run finalizers.
Owned<> bound_tuple(QuietLookup& lookup, PyObject** room) noexcept {
    const size_t count = lookup.value_count();
    lookup.take(room);
    auto made = Owned<>::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (size_t i = 0; i < count; ++i) {
        Owned<> value = Owned<>::steal(room[i]);
        if (made)
            PyTuple_SET_ITEM(made.get(), static_cast<Py_ssize_t>(i), value.release());
    }
    return made;
}

/// A callable that is no Python function: nobody else sees how deep such calls nest.
PyObject* call_foreign(PyObject* callable, PyObject* const* arguments, size_t count,
                       PyObject* names) {
    if (PyFunction_Check(callable))
        return PyObject_Vectorcall(callable, arguments, count, names);
    if (Py_EnterRecursiveCall(" in a guarded call")) return nullptr;
    PyObject* result = PyObject_Vectorcall(callable, arguments, count, names);
    Py_LeaveRecursiveCall();
    return result;
}

}  // namespace

GuardedCalls::Found GuardedCalls::find(const Table& table, PyFunctionObject* function,
                                       const View& view, Target& target) {
    const UserCode user_code;
    const size_t fetched = table.value_count();
    PyObject** const room = GUARDTREE_ROOM(fetched + table.max_bound());
    QuietLookup lookup(table, view, room);
    const Entry* const entry = lookup.find();
    if (lookup.has_values()) [[unlikely]] {
        target.values = bound_tuple(lookup, room + fetched);
        if (!target.values) return Found::exception;
    }
    const auto judge = callback_protocol().is_right_answer;
    if (judge && (entry || !PyErr_Occurred())) [[unlikely]] {
        judge(view, table, entry);
        if (PyErr_Occurred()) return Found::exception;
    }
    if (!entry) return PyErr_Occurred() ? Found::exception : Found::nothing;
    target.entry = entry;
    target.callable = Owned<>::share(entry->payload.get());
    if (entry->names) [[unlikely]]
        target.names = entry->names;
    target.is_like = is_like(*entry, function);
    return Found::target;
}

/// Binds the arguments as the function does, and asks the table.
GuardedCalls::Found GuardedCalls::find(const Table& table, PyFunctionObject* function,
                                       const VectorCall& call, Target& target) const {
    if (function->func_code != code_.object()) return Found::nothing;
    const auto slots = static_cast<size_t>(code_.get()->co_nlocalsplus);
    auto* storage = reinterpret_cast<SlotWord*>(GUARDTREE_ROOM(slots));
    ArgumentsView view(function, {storage, slots});
    view.arguments_are_held();
    if (view.bind(call.arguments, call.count, call.keywords))
        return find(table, function, view, target);
    return PyErr_Occurred() ? Found::exception : Found::nothing;
}

/// User code may run between the call and what it is passed on to: in guards, in those
/// who judge, in names that are keys of `**`.
bool GuardedCalls::may_run_user_code(const VectorCall& call) const noexcept {
    return table_->calls_python() || callback_protocol().is_right_answer ||
           (call.keywords && code_.get()->co_flags & CO_VARKEYWORDS);
}

[[gnu::noinline]] PyObject* GuardedCalls::call_bound(GuardedCalls& calls,
                                                     PyFunctionObject* function,
                                                     const VectorCall& call,
                                                     bool heeds_pause) {
    const bool is_empty = calls.table_->entries().empty() && !calls.asks();
    const bool is_asked = !is_empty && !(heeds_pause && hook_thread.is_paused());
    const bool is_other_code = function->func_code != calls.code_.object();
    if (!is_asked || is_other_code) {
        if (is_asked) ++calls.other_code;
        return calls.run_plain(function, call);
    }
    if (!calls.may_run_user_code(call)) return find_and_call(calls, function, call);
    const bool is_positional =
        !call.keywords && PyVectorcall_NARGS(call.count) == calls.positional_count_;
    if (is_positional) [[likely]]
        return call_positional(calls, function, call);
    const HeldCall held(as_object(function), call.arguments, call.count, call.keywords,
                        GUARDTREE_ROOM(HeldCall::room(call.count, call.keywords)));
    return find_and_call(calls, function,
                         {held.arguments(), held.count(), held.names()});
}

/// The slots of the frame that the call would make hold its arguments.
[[gnu::noinline]] PyObject* GuardedCalls::call_positional(GuardedCalls& calls,
                                                          PyFunctionObject* function,
                                                          const VectorCall& call) {
    const Owned<> held = Owned<>::share(as_object(function));
    const Scope scope = scope_of_call(function);
    const auto slots = static_cast<size_t>(calls.code_.get()->co_nlocalsplus);
    PyObject** const room = GUARDTREE_ROOM(1 + slots);
    *room = nullptr;  // PEP 590: the word before the arguments may be overwritten
    const auto count = static_cast<size_t>(calls.positional_count_);
    const HeldSlotsView view(scope, {call.arguments, count}, room + 1);
    const VectorCall own{room + 1, count | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr};
    return find_and_call(calls, function, own, &view);
}

/// `bound`: the call as it is bound, or null.
[[gnu::always_inline]] inline PyObject* GuardedCalls::find_and_call(
    GuardedCalls& calls, PyFunctionObject* function, const VectorCall& call,
    const View* bound) {
    Target target;
    {
        const Shared<GuardedCalls> pinned(&calls);
        const Shared<Table> table = calls.table_;
        switch (bound ? find(*table, function, *bound, target)
                      : calls.find(*table, function, call, target)) {
        case Found::exception: return nullptr;
        // The function itself raises for arguments that do not fit.
        case Found::nothing: return missed(calls, function, call);
        case Found::target: note_hit(*target.entry);
        }
    }
    return call_target(target, function, call);
}

[[gnu::noinline]] PyObject* GuardedCalls::missed(GuardedCalls& calls,
                                                 PyFunctionObject* function,
                                                 const VectorCall& call) {
    ++use_clock;
    ++calls.misses;
    if (calls.asks()) return miss_answer(calls, function, call);
    return calls.run_plain(function, call);
}

PyObject* GuardedCalls::run_plain(PyFunctionObject* function,
                                  const VectorCall& call) const {
    if (!plain_)
        return plain_entry(as_object(function), call.arguments, call.count,
                           call.keywords);
    const Owned<> held = plain_;
    return call_foreign(held.get(), call.arguments, call.count, call.keywords);
}

namespace {

/// The values that guards captured as keyword arguments, behind the call's own.
PyObject* call_with_values(const Target& target, const VectorCall& call) {
    const Py_ssize_t positional = PyVectorcall_NARGS(call.count);
    const Py_ssize_t named = call.keywords ? PyTuple_GET_SIZE(call.keywords) : 0;
    const Py_ssize_t added = PyTuple_GET_SIZE(target.values.get());
    std::vector<PyObject*> all;
    const bool has_room = allocating(
        [&] { all.reserve(static_cast<size_t>(positional + named + added)); });
    if (!has_room) return nullptr;
    all.assign(call.arguments, call.arguments + positional + named);
    for (Py_ssize_t i = 0; i < added; ++i)
        all.push_back(PyTuple_GET_ITEM(target.values.get(), i));
    const Owned<> names =
        named ? Owned<>::steal(PySequence_Concat(call.keywords, target.names.get()))
              : target.names;
    if (!names) return nullptr;
    return call_foreign(target.callable.get(), all.data(),
                        static_cast<size_t>(positional), names.get());
}

PyObject* call_alike(const Target& target, const VectorCall& call) {
    PyObject* const callable = target.callable.get();
    if (target.names) return call_with_values(target, call);
    if (!target.values)
        return call_foreign(callable, call.arguments, call.count, call.keywords);
    PyObject* const* values =
        reinterpret_cast<PyTupleObject*>(target.values.get())->ob_item;
    const auto count = static_cast<size_t>(PyTuple_GET_SIZE(target.values.get()));
    return call_foreign(callable, values, count, nullptr);
}

}  // namespace

PyObject* GuardedCalls::call_target(const Target& target, PyFunctionObject* function,
                                    const VectorCall& call) {
    if (target.is_like || !is_behind(target.callable.get(), function))
        return call_alike(target, call);
    const HeldCall held(as_object(function), call.arguments, call.count, call.keywords,
                        GUARDTREE_ROOM(HeldCall::room(call.count, call.keywords)));
    follow(target.callable.get(), function);
    return call_alike(target, {held.arguments(), held.count(), held.names()});
}

/// Of a table that runs no user code, and reads more than the vector.
[[gnu::noinline]] const Entry* GuardedCalls::find_in_view(
    PyFunctionObject* function, PyObject* const* arguments) const noexcept {
    const Scope scope = scope_of_call(function);
    const SlotsView view(scope, arguments);
    PyObject* values[few_values];
    return QuietLookup(*table_, view, values).find();
}

/// What is called is held meanwhile.
[[gnu::noinline]] PyObject* GuardedCalls::call_held(const Entry& entry,
                                                    PyFunctionObject* function,
                                                    const VectorCall& call) {
    Target target;
    target.callable = Owned<>::share(entry.payload.get());
    target.is_like = is_like(entry, function);
    note_hit(entry);
    return call_target(target, function, call);
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
