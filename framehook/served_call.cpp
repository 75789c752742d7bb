// One guarded call: its arguments bound, the table asked, what was found called.
// SPDX-License-Identifier: MIT
//
// How it works. Where each argument is given by position, none is bound: the vector of
// a call is the first slots of the frame that it would make (dispatch.h). The same is
// true where the last arguments are given by name, in the order of the parameters. All
// else is bound as the callee would (ArgumentsView), here.
//
// Requirements that a change must keep: 1. nothing of a GuardedCalls is touched after
// the payload is called, or after user code ran without a pin: either may end it; 2. a
// table that runs user code, or reads slots that are no arguments, is never looked up
// in the vector; 3. where user code may run before the call is passed on, the call is
// held (HeldCall, or the slots of HeldSlotsView).
#include "../framelocals/cpython/cpython.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "../framelocals/no_memory.h"
#include "../guards/lookup/lookup.h"

#include "dispatch.h"
#include "function_like.h"
#include "guarded_calls.h"
#include "hook.h"
#include "substitution.h"

namespace guardtree {

namespace {

MissAnswer miss_answer = nullptr;

}  // namespace

void set_miss_answer(MissAnswer answer) noexcept {
    miss_answer = answer;
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
Owned<> captured_tuple(QuietLookup& lookup, PyObject** room) noexcept {
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

void hand_over(const Entry& entry, const PyFunctionObject* function,
               Target& target) noexcept {
    target.entry = &entry;
    target.callable = Owned<>::share(entry.payload.get());
    if (entry.names) [[unlikely]]
        target.names = entry.names;
    target.is_like = is_like(entry, function);
}

}  // namespace

GuardedCalls::Found GuardedCalls::find(const Table& table, PyFunctionObject* function,
                                       const View& view, Target& target) {
    const UserCode user_code;
    const size_t fetched = table.value_count();
    PyObject** const room = GUARDTREE_ROOM(fetched + table.max_captured());
    QuietLookup lookup(table, view, room);
    const Entry* const entry = lookup.find();
    if (lookup.has_values()) [[unlikely]] {
        target.values = captured_tuple(lookup, room + fetched);
        if (!target.values) return Found::exception;
    }
    const auto judge = callback_protocol().is_right_answer;
    if (judge && (entry || !PyErr_Occurred())) [[unlikely]] {
        judge(view, table, entry);
        if (PyErr_Occurred()) return Found::exception;
    }
    if (!entry) return PyErr_Occurred() ? Found::exception : Found::nothing;
    hand_over(*entry, function, target);
    target.takes_arguments = entry->takes_arguments;
    return Found::target;
}

bool GuardedCalls::hand_over_arguments(const View& view, Target& target) noexcept {
    const int count = argument_slots(view.code().get());
    target.values = Owned<>::steal(PyTuple_New(count));
    if (!target.values) return false;
    for (int slot = 0; slot < count; ++slot) {
        PyObject* value = view.local(slot).get();
        PyTuple_SET_ITEM(target.values.get(), slot, Owned<>::share(value).release());
    }
    return true;
}

/// Binds the arguments as the function does, and asks the table.
GuardedCalls::Found GuardedCalls::find(const Table& table, PyFunctionObject* function,
                                       const VectorCall& call, Target& target) const {
    if (function->func_code != code_.object()) return Found::nothing;
    const auto slots = static_cast<size_t>(code_.get()->co_nlocalsplus);
    auto* storage = reinterpret_cast<SlotWord*>(GUARDTREE_ROOM(slots));
    ArgumentsView view(function, {storage, slots});
    view.arguments_are_held();
    if (!view.bind(call.arguments, call.count, call.keywords))
        return PyErr_Occurred() ? Found::exception : Found::nothing;
    const Found found = find(table, function, view, target);
    if (target.takes_arguments && !hand_over_arguments(view, target))
        return Found::exception;
    return found;
}

namespace {

bool has_names_of_subclasses(PyObject* names) noexcept {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i)
        if (!PyUnicode_CheckExact(PyTuple_GET_ITEM(names, i))) return true;
    return false;
}

}  // namespace

/// User code may run between the call and what it is passed on to: in guards, in those
/// who judge, in names that are keys of `**`.
bool GuardedCalls::may_run_user_code(const VectorCall& call) const noexcept {
    return table_->calls_python() || callback_protocol().is_right_answer ||
           (call.keywords && code_.get()->co_flags & CO_VARKEYWORDS &&
            has_names_of_subclasses(call.keywords));
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

PyObject* GuardedCalls::serve(GuardedCalls& calls, PyFunctionObject* function,
                              const VectorCall& call) {
    return calls.passes_arguments_ ? find_and_pass(calls, function, call)
                                   : find_and_call(calls, function, call);
}

namespace {

/// Whether all arguments are given in the order of the parameters, the last ones by
/// name. CPython takes the same str for the same name before it compares the text.
bool is_in_order(PyCodeObject* code, const VectorCall& call) noexcept {
    const Py_ssize_t given = PyVectorcall_NARGS(call.count);
    const Py_ssize_t named = PyTuple_GET_SIZE(call.keywords);
    if (given + named != code->co_argcount || given < code->co_posonlyargcount)
        return false;
    PyObject* const* const parameters =
        reinterpret_cast<PyTupleObject*>(code->co_localsplusnames)->ob_item;
    PyObject* const* const names =
        reinterpret_cast<PyTupleObject*>(call.keywords)->ob_item;
    return std::equal(names, names + named, parameters + given);
}

}  // namespace

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
    if (calls.direct_count_ >= 0 && call.keywords &&
        !callback_protocol().is_right_answer &&
        is_in_order(calls.code_.get(), call)) [[likely]]
        return call_in_order(calls, function, call);
    if (!calls.may_run_user_code(call)) return serve(calls, function, call);
    const bool is_positional =
        !call.keywords && PyVectorcall_NARGS(call.count) == calls.positional_count_;
    if (is_positional) [[likely]]
        return call_positional(calls, function, call);
    const HeldCall held(as_object(function), call.arguments, call.count, call.keywords,
                        GUARDTREE_ROOM(HeldCall::room(call.count, call.keywords)));
    return serve(calls, function, {held.arguments(), held.count(), held.names()});
}

namespace {

/// Whether a look-up in the table runs no user code and captures nothing.
bool runs_no_user_code(const Table& table) noexcept {
    return !table.calls_python() && table.max_captured() == 0 &&
           !callback_protocol().is_right_answer;
}

/// Whether the payload can take the bound arguments by position. Its own defaults must
/// be the function's, or the call must use none. CPython asks `__eq__` of names that
/// are of a subclass of str.
bool may_take_slots(const Entry& entry, const PyFunctionObject* function,
                    const VectorCall& call) noexcept {
    if (entry.takes_arguments) return true;
    const PyCodeObject* const code = entry.matching_code.get();
    if (!code || !is_like(entry, function)) return false;
    const auto* payload = reinterpret_cast<PyFunctionObject*>(entry.payload.get());
    if (payload->func_code != entry.matching_code.object()) return false;
    if (payload->vectorcall != plain_entry) return false;
    if (call.keywords && has_names_of_subclasses(call.keywords)) return false;
    const Py_ssize_t named = call.keywords ? PyTuple_GET_SIZE(call.keywords) : 0;
    return PyVectorcall_NARGS(call.count) + named == code->co_argcount ||
           has_defaults_of(payload, function);
}

}  // namespace

/// The vector of the call is the first slots of the frame that it would make.
PyObject* GuardedCalls::call_in_order(GuardedCalls& calls, PyFunctionObject* function,
                                      const VectorCall& call) {
    const Entry* const entry = find_in_vector(calls, function, call);
    if (!entry) return missed(calls, function, call);
    if (!may_take_slots(*entry, function, call))
        return call_held(*entry, function, call);
    const auto count = static_cast<size_t>(calls.code_.get()->co_argcount);
    if (entry->takes_arguments)
        return call_held(*entry, function, {call.arguments, count, nullptr});
    note_hit(*entry);
    // Not held: its frame holds it before anything of the program's runs.
    return plain_entry(entry->payload.get(), call.arguments, count, nullptr);
}

/// As find, of a table for which runs_no_user_code() is true: nothing has to be pinned.
GuardedCalls::Found GuardedCalls::find_quietly(const View& view,
                                               const PyFunctionObject* function,
                                               const VectorCall& call,
                                               Target& target) const noexcept {
    QuietLookup lookup(*table_, view, GUARDTREE_ROOM(table_->value_count()));
    const Entry* const entry = lookup.find();
    if (!entry) return PyErr_Occurred() ? Found::exception : Found::nothing;
    hand_over(*entry, function, target);
    target.takes_arguments = may_take_slots(*entry, function, call);
    return Found::target;
}

/// As find_and_call. What binding has made stays until the target returns, so that the
/// target gets the bound slots themselves.
[[gnu::noinline]] PyObject* GuardedCalls::find_and_pass(GuardedCalls& calls,
                                                        PyFunctionObject* function,
                                                        const VectorCall& call) {
    PyCodeObject* const code = calls.code_.get();
    const auto slots = static_cast<size_t>(code->co_nlocalsplus);
    const auto count = static_cast<size_t>(argument_slots(code));
    auto* storage = reinterpret_cast<SlotWord*>(GUARDTREE_ROOM(slots));
    ArgumentsView view(function, {storage, slots});
    view.arguments_are_held();
    // The function itself raises for arguments that do not fit.
    if (!view.bind(call.arguments, call.count, call.keywords))
        return PyErr_Occurred() ? nullptr : missed(calls, function, call);
    Target target;
    Found found;
    if (runs_no_user_code(*calls.table_)) {
        found = calls.find_quietly(view, function, call, target);
        if (found == Found::target) note_hit(*target.entry);
    } else {
        const Shared<GuardedCalls> pinned(&calls);
        const Shared<Table> table = calls.table_;
        found = find(*table, function, view, target);
        if (found == Found::target) note_hit(*target.entry);
    }
    if (found == Found::exception) return nullptr;
    if (found == Found::nothing) return missed(calls, function, call);
    if (!target.takes_arguments) return call_target(target, function, call);
    return call_foreign(target.callable.get(),
                        reinterpret_cast<PyObject* const*>(storage), count, nullptr);
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

}  // namespace guardtree
