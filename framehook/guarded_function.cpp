// The vectorcall entry: finding a function's entries, binding, calling what was found.
// SPDX-License-Identifier: MIT
//
// How it works. Functions are found by address. Where each argument is given by
// position, none is bound: the vector of a call is the first slots of the frame that it
// would make. All else is bound as the callee would (ArgumentsView).
//
// Requirements that a change must keep: 1. nothing of a GuardedFunction is touched
// after the payload is called, or after user code ran without a pin: either may end it;
// 2. a table that runs user code, or reads slots that are no arguments, is never looked
// up in the vector; 3. where user code may run before the call is passed on, the call
// is held (HeldCall).
#include "../framelocals/cpython/cpython.h"

#include "guarded_function.h"

#include <algorithm>
#include <string>
#include <utility>

#include "../framelocals/no_memory.h"
#include "../guards/lookup/lookup.h"

#include "function_like.h"
#include "function_registry.h"
#include "hook.h"
#include "replacement.h"
#include "stack_floor.h"
#include "substitution.h"
#include "thread_state.h"

namespace guardtree {
namespace {

/// Values of a look-up that needs no call frame of its own for them.
constexpr uint16_t few_values = 8;

/// CPython's own entry of functions, which it does not export: of one that is new.
vectorcallfunc plain_entry = nullptr;

bool find_plain_entry(PyFunctionObject* function) noexcept {
    if (plain_entry) return true;
    const auto fresh =
        Owned<>::steal(PyFunction_New(function->func_code, function->func_globals));
    if (!fresh) return false;
    plain_entry = reinterpret_cast<PyFunctionObject*>(fresh.get())->vectorcall;
    return true;
}

/// Why calls of `function` cannot be guarded; empty when they can. `ours`: the entry of
/// one that was guarded before.
std::string problem_of(PyFunctionObject* function, vectorcallfunc ours) {
    const std::string name = short_repr(function->func_qualname);
    if (function->vectorcall != plain_entry && function->vectorcall != ours) {
        return "the calls of " + name +
               " are another library's already (its vectorcall slot is not CPython's): "
               "guard what that one calls";
    }
    auto* code = reinterpret_cast<PyCodeObject*>(function->func_code);
    constexpr int star_flags = CO_VARARGS | CO_VARKEYWORDS;
    const bool may_specialise =
        !(code->co_flags & star_flags) && code->co_kwonlyargcount == 0;
    if (CPython::init_may_escape_vectorcall && may_specialise &&
        PyUnicode_CompareWithASCIIString(function->func_name, "__init__") == 0) {
        return name +
               " would be run unguarded: CPython 3.13 and later do not ask for the "
               "entry of an __init__ once they have specialised a call of its class. "
               "Guard a function that makes the instances, or give __init__ a "
               "keyword-only argument, which keeps such calls from being specialised";
    }
    return {};
}

[[gnu::cold, maybe_unused]] PyObject* raise_recursion() {
    PyErr_SetString(PyExc_RecursionError,
                    "maximum recursion depth exceeded: a guarded call takes C stack, "
                    "and the thread's is used up");
    return nullptr;
}

}  // namespace

GuardedFunction::GuardedFunction(PyFunctionObject* function, Identity identity) noexcept
    : function_(identity),
      code_(Owned<PyCodeObject>::share(
          reinterpret_cast<PyCodeObject*>(function->func_code))) {
    set_table(std::move(table_));
}

Shared<GuardedFunction> GuardedFunction::take(PyFunctionObject* function) {
    if (!CPython::has_vectorcall_entry) {
        PyErr_SetString(PyExc_NotImplementedError,
                        "CPython 3.11 inlines calls without asking for a function's "
                        "entry: guard its frames with the hook");
        return {};
    }
    if (!find_plain_entry(function)) return {};
    const std::string why = problem_of(function, call);
    if (!why.empty()) {
        PyErr_SetString(PyExc_ValueError, why.c_str());
        return {};
    }
    Identity identity;
    References references;
    Diagnostic problem;
    if (!Identity::read(as_object(function), identity, references, problem)) {
        PyErr_SetString(problem.exception, problem.message.c_str());
        return {};
    }
    Shared<GuardedFunction> made(new GuardedFunction(function, identity));
    made->references_ = std::move(references);
    put_guarded(function, made.get());
    CPython::set_vectorcall(function, call);
    return made;
}

GuardedFunction::~GuardedFunction() {
    restore();
    remove_guarded(reinterpret_cast<PyFunctionObject*>(function_.object), this);
}

GuardedFunction* GuardedFunction::find(PyFunctionObject* function) noexcept {
    GuardedFunction* const found = find_guarded(function);
    // A function at the address of one that died is not meant.
    return found && found->function_.is(as_object(function)) ? found : nullptr;
}

void GuardedFunction::let_all_go() noexcept {
    remove_all_guarded();
}

PyFunctionObject* GuardedFunction::function() const noexcept {
    if (function_.is_dead()) return nullptr;
    return reinterpret_cast<PyFunctionObject*>(function_.object);
}

void GuardedFunction::set_table(Shared<Table> table) noexcept {
    PyCodeObject* code = code_.get();
    constexpr int star_flags = CO_VARARGS | CO_VARKEYWORDS;
    const auto is_in_vector = [&](const SlotName& name) {
        return name.slot < code->co_argcount || name.slot >= first_free_slot(code);
    };
    const auto binds = [](const Shared<Entry>& entry) {
        return entry->program.bound() != nullptr;
    };
    const bool is_direct = !(code->co_flags & star_flags) &&
                           code->co_kwonlyargcount == 0 && !table->calls_python() &&
                           std::ranges::none_of(table->entries(), binds) &&
                           table->value_count() <= few_values &&
                           std::ranges::all_of(table->names(), is_in_vector);
    direct_count_ = is_direct ? code->co_argcount : -1;
    std::swap(table_, table);  // what goes may run user code: all is set by then
}

void GuardedFunction::add(Shared<Entry> entry, bool is_made) {
    const bool makes_generators = (code_.get()->co_flags & generator_flags) != 0;
    if (is_made)
        entry->follows =
            makes_generators ? Entry::Follows::names_too : Entry::Follows::defaults;
    set_table(table_->with(std::move(entry)));
}

bool GuardedFunction::remove(const Entry& entry) {
    const Shared<Table> before = table_;
    Shared<Table> made = before->without(entry);
    if (made->entries().size() == before->entries().size()) return false;
    dropped_hits_ += entry.hits;
    set_table(std::move(made));
    return true;
}

uint64_t GuardedFunction::hits() const noexcept {
    uint64_t sum = dropped_hits_;
    for (const Shared<Entry>& entry : table_->entries()) sum += entry->hits;
    return sum;
}

bool GuardedFunction::restore() noexcept {
    PyFunctionObject* function = this->function();
    // Once another guards the same function, by the same entry, that one's calls stay.
    const bool is_in_charge = function && find(function) == this;
    if (is_in_charge && function->vectorcall == call)
        CPython::set_vectorcall(function, plain_entry);
    const bool is_back = !is_in_charge || function->vectorcall == plain_entry;
    is_restored_ = true;
    dropped_hits_ = hits();
    set_table(Table::empty());
    return is_back;
}

Owned<> GuardedFunction::function_of(PyCodeObject* replacement, PyCodeObject* called) {
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

}  // namespace

void GuardedFunction::note_miss() noexcept {
    ++use_clock;
    ++misses;
}

/// What a hit hands over, as a tuple; null where that is nothing, or with MemoryError.
Owned<> bound_tuple(Lookup& lookup) noexcept {
    if (!lookup.has_values()) return {};
    const auto count = static_cast<Py_ssize_t>(lookup.value_count());
    auto made = Owned<>::steal(PyTuple_New(count));
    if (made) lookup.take(reinterpret_cast<PyTupleObject*>(made.get())->ob_item);
    return made;
}

/// Calls with keywords, defaults or stars; guards that run user code; values that are
/// handed over.
[[gnu::noinline]] GuardedFunction::Found GuardedFunction::find_bound(
    PyFunctionObject* function, const Call& call, Target& target) {
    const Shared<GuardedFunction> pinned(this);
    const UserCode user_code;
    const auto slots = static_cast<size_t>(code_.get()->co_nlocalsplus);
    auto* storage = reinterpret_cast<SlotWord*>(GUARDTREE_ROOM(slots));
    ArgumentsView view(function, {storage, slots});
    if (call.is_held) view.arguments_are_held();
    const Entry* entry = nullptr;
    if (view.bind(call.arguments, call.count, call.keywords)) {
        const Table& table = *table_;
        const auto judge = callback_protocol().is_right_answer;
        const bool is_quiet = !judge && !table.calls_python();
        const auto mode = is_quiet ? Lookup::Mode::quiet : Lookup::Mode::inner;
        Lookup lookup(table, view, GUARDTREE_ROOM(Lookup::room(table, view, mode)),
                      mode);
        entry = lookup.find();
        target.values = bound_tuple(lookup);
        if (judge && !PyErr_Occurred()) judge(lookup.view(), table, entry);
        if (entry && !PyErr_Occurred()) {
            note_hit(*entry);
            target.callable = Owned<>::share(entry->payload.get());
            target.names = entry->names;
            target.is_like = is_like(*entry, function);
            return Found::target;
        }
    }
    if (PyErr_Occurred()) return Found::exception;
    note_miss();
    return Found::nothing;  // the function itself tells of arguments that misfit
}

/// User code may run between the call and what it is passed on to: in guards, in those
/// who judge, in names that are keys of `**`.
bool GuardedFunction::may_run_user_code(const Call& call) const noexcept {
    return table_->calls_python() || callback_protocol().is_right_answer ||
           (call.keywords && code_.get()->co_flags & CO_VARKEYWORDS);
}

[[gnu::noinline]] PyObject* GuardedFunction::call_bound(GuardedFunction& guarded,
                                                        PyFunctionObject* function,
                                                        const Call& call) {
    const bool is_empty = guarded.table_->entries().empty();
    const bool is_asked = !is_empty && !hook_thread.is_paused();
    const bool is_other_code = function->func_code != guarded.code_.object();
    if (!is_asked || is_other_code) {
        if (is_asked) ++guarded.other_code;
        return plain_entry(as_object(function), call.arguments, call.count,
                           call.keywords);
    }
    if (!guarded.may_run_user_code(call)) return find_and_call(guarded, function, call);
    const HeldCall held(as_object(function), call.arguments, call.count, call.keywords,
                        GUARDTREE_ROOM(HeldCall::room(call.count, call.keywords)));
    return find_and_call(guarded, function,
                         {held.arguments(), held.count(), held.names(), true});
}

PyObject* GuardedFunction::find_and_call(GuardedFunction& guarded,
                                         PyFunctionObject* function, const Call& call) {
    Target target;
    switch (guarded.find_bound(function, call, target)) {
    case Found::exception: return nullptr;
    case Found::nothing:
        return plain_entry(as_object(function), call.arguments, call.count,
                           call.keywords);
    case Found::target: break;
    }
    if (!target.is_like) return call_alike(target, function, call);
    return call_target(target, call);
}

/// Once the target is like the function.
[[gnu::noinline]] PyObject* GuardedFunction::call_alike(const Target& target,
                                                        PyFunctionObject* function,
                                                        const Call& call) {
    if (!is_behind(target.callable.get(), function)) return call_target(target, call);
    const HeldCall held(as_object(function), call.arguments, call.count, call.keywords,
                        GUARDTREE_ROOM(HeldCall::room(call.count, call.keywords)));
    follow(target.callable.get(), function);
    return call_target(target, {held.arguments(), held.count(), held.names()});
}

PyObject* GuardedFunction::call_target(const Target& target, const Call& call) {
    if (target.names) return call_with_values(target, call);
    return PyObject_Vectorcall(target.callable.get(), call.arguments, call.count,
                               call.keywords);
}

PyObject* GuardedFunction::call_with_values(const Target& target, const Call& call) {
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
    return PyObject_Vectorcall(target.callable.get(), all.data(),
                               static_cast<size_t>(positional), names.get());
}

/// Of a table that runs no user code, and reads more than the vector.
[[gnu::noinline]] const Entry* GuardedFunction::find_in_view(
    PyFunctionObject* function, PyObject* const* arguments) const noexcept {
    const Scope scope = scope_of_call(function);
    const SlotsView view(scope, arguments);
    PyObject* values[few_values];
    return QuietLookup(*table_, view, values).find();
}

/// What is called is held meanwhile.
[[gnu::noinline]] PyObject* GuardedFunction::call_held(const Entry& entry,
                                                       PyFunctionObject* function,
                                                       const Call& call) {
    const Target target{Owned<>::share(entry.payload.get()), {}, {}};
    note_hit(entry);
    if (!is_like(entry, function)) return call_alike(target, function, call);
    return call_target(target, call);
}

PyObject* GuardedFunction::call(PyObject* callable, PyObject* const* arguments,
                                size_t count, PyObject* keywords) {
    auto* function = reinterpret_cast<PyFunctionObject*>(callable);
    if constexpr (!CPython::checks_c_stack) {
        if (is_below(hook_thread.stack_floor) && is_stack_low(hook_thread.stack_floor))
            [[unlikely]]
            return raise_recursion();
    }
    // Our entry is in the slot of functions that were taken alone, and to take one
    // replaces what was put for a dead one at its address.
    GuardedFunction* const guarded = find_guarded(function);
    if (!guarded) [[unlikely]]
        return plain_entry(callable, arguments, count, keywords);
    const bool is_direct = !keywords &&
                           PyVectorcall_NARGS(count) == guarded->direct_count_ &&
                           function->func_code == guarded->code_.object() &&
                           !hook_thread.is_paused() &&
                           !callback_protocol().is_right_answer;
    if (!is_direct) [[unlikely]]
        return call_bound(*guarded, function, {arguments, count, keywords});
    const Table& table = *guarded->table_;
    const Entry* entry = nullptr;
    if (table.is_leaf()) [[likely]] {
        entry = Lookup::in_slots(table, reinterpret_cast<const SlotWord*>(arguments));
    } else {
        entry = guarded->find_in_view(function, arguments);
    }
    if (!entry) {
        guarded->note_miss();
        return plain_entry(callable, arguments, count, nullptr);
    }
    PyObject* const target = entry->payload.get();
    const bool is_function = PyFunction_Check(target);
    auto* const called = reinterpret_cast<PyFunctionObject*>(target);
    if (is_function && called->vectorcall == plain_entry &&
        is_like(*entry, function)) [[likely]] {
        note_hit(*entry);
        // Not held: its frame holds it before anything of the program's runs.
        return plain_entry(target, arguments, count, nullptr);
    }
    return call_held(*entry, function, {arguments, count, nullptr});
}

int GuardedFunction::traverse(visitproc visit, void* arg) const {
    for (const Owned<>& each : references_) Py_VISIT(each.get());
    Py_VISIT(table_->object());
    return 0;
}

}  // namespace guardtree
