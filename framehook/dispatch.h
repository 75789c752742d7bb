// The entry of guarded calls: the hot body that functions and dispatchers share. Needs
// CPython's private headers; include framelocals/cpython/cpython.h first.
// SPDX-License-Identifier: MIT
#pragma once
#include "../framelocals/cpython/cpython.h"
#include "../guards/lookup/lookup.h"

#include "guarded_calls.h"
#include "hook.h"
#include "stack_floor.h"

namespace guardtree {

/// CPython's own entry of functions, which it does not export: of one that is new.
[[gnu::visibility("hidden")]] extern vectorcallfunc plain_entry;

[[gnu::cold, maybe_unused]] inline PyObject* raise_recursion() {
    PyErr_SetString(PyExc_RecursionError,
                    "maximum recursion depth exceeded: a guarded call takes C stack, "
                    "and the thread's is used up");
    return nullptr;
}

/// Where CPython does not look itself.
[[gnu::always_inline]] inline bool is_out_of_stack() noexcept {
    if constexpr (CPython::checks_c_stack) return false;
    return is_below(hook_thread.stack_floor) && is_stack_low(hook_thread.stack_floor);
}

/// The payload of an entry of code has the defaults of the function. Only the pointers
/// are compared: what is in a dict of defaults, both share.
inline bool has_defaults_of(const PyFunctionObject* made,
                            const PyFunctionObject* function) noexcept {
    return made->func_defaults == function->func_defaults &&
           made->func_kwdefaults == function->func_kwdefaults;
}

/// The payload is called as it is: false where nobody compared all that it follows.
[[gnu::always_inline]] inline bool is_like(const Entry& entry,
                                           const PyFunctionObject* function) noexcept {
    if (entry.follows == Entry::Follows::nothing) return true;
    const auto* made = reinterpret_cast<const PyFunctionObject*>(entry.payload.get());
    return entry.follows == Entry::Follows::defaults && has_defaults_of(made, function);
}

/// Of a call whose vector the table can read as it is.
[[gnu::always_inline]] inline const Entry* GuardedCalls::find_in_vector(
    const GuardedCalls& calls, PyFunctionObject* function,
    const VectorCall& call) noexcept {
    const Table& table = *calls.table_;
    if (table.is_leaf()) [[likely]]
        return Lookup::in_slots(table,
                                reinterpret_cast<const SlotWord*>(call.arguments));
    return calls.find_in_view(function, call.arguments);
}

template <bool heeds_pause>
[[gnu::always_inline]] inline PyObject* GuardedCalls::dispatch(
    GuardedCalls& calls, PyFunctionObject* function, const VectorCall& call) {
    const bool is_direct = !call.keywords &&
                           PyVectorcall_NARGS(call.count) == calls.direct_count_ &&
                           function->func_code == calls.code_.object() &&
                           !(heeds_pause && hook_thread.is_paused()) &&
                           !callback_protocol().is_right_answer;
    if (!is_direct) [[unlikely]]
        return call_bound(calls, function, call, heeds_pause);
    const Entry* const entry = find_in_vector(calls, function, call);
    if (!entry) return missed(calls, function, call);
    PyObject* const target = entry->payload.get();
    const bool is_function = PyFunction_Check(target);
    auto* const called = reinterpret_cast<PyFunctionObject*>(target);
    if (is_function && called->vectorcall == plain_entry &&
        is_like(*entry, function)) [[likely]] {
        note_hit(*entry);
        // Not held: its frame holds it before anything of the program's runs.
        return plain_entry(target, call.arguments, call.count, nullptr);
    }
    return call_held(*entry, function, call);
}

}  // namespace guardtree
