// Calls that no entry serves: on_miss is asked, and what it returns becomes an entry.
// SPDX-License-Identifier: MIT
//
// How it works. answer_miss binds the call, describes it (a MissedCall), calls on_miss,
// reads the answer, and runs the call. The arguments stay bound as they are, whatever
// on_miss does to the function: the guards that it gives are checked on them. C++
// exceptions are used while describing and reading alone, so that no C++ frame waits
// for on_miss or a target.
#include <pybind11/pybind11.h>

#include <string>

#include "../../framehook/replacement.h"
#include "../../guards/text/text_call.h"
#include "../bindings.h"
#include "../function.h"
#include "../guard_manager.h"
#include "../table_entry.h"

#include "guarded_entries.h"

namespace guardtree {
namespace {

/// One miss, held: its calls, the object that has them, the function, the arguments,
/// and what they are bound to.
struct Miss {
    GuardedCalls& calls;
    py::handle self;
    PyFunctionObject* function;
    VectorCall call;
    const View& view;
};

enum class Action { ask, plain, target, raise };

/// What `body` returns; `raise` with what it throws set as the exception.
template <class Body>
Action guarded_step(Body body) {
    const TextCall texts;
    Action action = Action::raise;
    try {
        action = body();
    } catch (...) {
        translate_exception();
    }
    if (TextCall::has_kept()) [[unlikely]] {
        texts.raise_kept();
        return Action::raise;
    }
    return action;
}

py::object dispatch_module(const char* name) {
    return py::module_::import("guardtree.dispatch").attr(name);
}

/// The GuardedFunction or Dispatcher. Throws ReferenceError when it is gone.
py::object self_of(const GuardedCalls& calls, PyFunctionObject* function) {
    if (calls.owner) return py::reinterpret_borrow<py::object>(calls.owner);
    py::object found = attribute_or_none(as_object(function), "__guardtree__");
    if (calls_of_function(found) == &calls) return found;
    PyErr_SetString(PyExc_ReferenceError,
                    "what guards this call is gone: there is nobody to ask");
    throw py::error_already_set();
}

/// The arguments by name, as the function binds them.
py::dict arguments_by_name(const View& view) {
    PyCodeObject* const code = view.code().get();
    py::dict named;
    for (int slot = 0; slot < argument_slots(code); ++slot) {
        PyObject* name = PyTuple_GET_ITEM(code->co_localsplusnames, slot);
        if (PyDict_SetItem(named.ptr(), name, view.local(slot).get()) < 0)
            throw py::error_already_set();
    }
    return named;
}

/// Raises GuardMiss: nobody can be asked, and nothing runs.
Action refuse_miss(const Miss& miss, const Given& given) {
    const py::object raise = dispatch_module("raise_miss");
    raise(miss.self, rest_of(given), keywords_of(given));
    throw py::error_already_set();
}

/// Makes the MissedCall that on_miss gets, where it is to be asked.
Action describe(const Miss& miss, py::object& described) {
    const Given given{miss.call.arguments,
                      static_cast<size_t>(PyVectorcall_NARGS(miss.call.count)),
                      miss.call.keywords};
    const GuardedCalls& calls = miss.calls;
    if (!calls.on_miss || calls.is_closed()) {
        if (calls.has_plain()) return Action::plain;
        return refuse_miss(miss, given);
    }
    const py::object guards = GuardManager::to_python(
        GuardManager(std::make_unique<GuardTree>(as_object(miss.function))));
    described = dispatch_module("MissedCall")(miss.self, guards,
                                              arguments_by_name(miss.view),
                                              rest_of(given), keywords_of(given));
    return Action::ask;
}

[[noreturn]] void refuse_answer(const Miss& miss, py::handle answer) {
    const bool takes_code = miss.calls.is_of_function();
    const bool has_plain = miss.calls.has_plain();
    throw py::type_error(
        std::string("on_miss returns what the call runs: expected a callable, ") +
        (takes_code ? "a code object, " : "") +
        (has_plain ? "ASK_AGAIN (run it plain this time) " : "") +
        "or the TableEntry that now serves it, found " + found_text(answer.ptr()) +
        (has_plain ? "" : ". Nothing is below this Dispatcher that could run plain"));
}

/// Looks the call up; throws what guards let through.
bool is_served(const Miss& miss, const Table& table, Target& target) {
    const auto found = GuardedCalls::find(table, miss.function, miss.view, target);
    if (found == GuardedCalls::Found::exception) throw py::error_already_set();
    if (target.takes_arguments && !GuardedCalls::hand_over_arguments(miss.view, target))
        throw py::error_already_set();
    return found == GuardedCalls::Found::target;
}

/// The entry does not serve the call that it was made for: says which guards fail.
[[noreturn]] void refuse_entry(const Miss& miss, const Shared<Entry>& entry) {
    const py::list explained = explain_entries(miss.view, {&entry, 1});
    throw py::value_error(
        "the guards that on_miss gave do not pass on the call that missed, so every "
        "such call would compile again: " +
        py::cast<std::string>(py::str(py::tuple(explained[0])[1])) +
        ". Guard what the call's own arguments are");
}

/// Reads what on_miss returned; fills `target` where an entry serves the call now.
/// `before`: the table that the call missed in.
Action interpret(const Miss& miss, const py::object& described, py::handle answer,
                 const Shared<Table>& before, Target& target) {
    GuardedCalls& calls = miss.calls;
    const py::object ask_again =
        py::module_::import("guardtree._guardtree").attr("ASK_AGAIN");
    const bool is_entry = Box<TableEntryHandle>::find(answer.ptr()) != nullptr;
    const bool is_code = PyCode_Check(answer.ptr());
    if (answer.is(ask_again) && calls.has_plain()) return Action::plain;
    if (!is_entry && !is_code && !PyCallable_Check(answer.ptr()))
        refuse_answer(miss, answer);
    // Whoever was first keeps its entry: others that missed meanwhile use it.
    const Shared<Table> now = calls.table();
    const bool is_changed = now.get() != before.get();
    if (is_changed && is_served(miss, *now, target)) return Action::target;
    if (is_entry) {
        throw py::value_error(
            "on_miss returned a TableEntry, and no entry serves the call: add one "
            "whose guards pass, or return the callable itself");
    }
    const py::object guards = described.attr("guards");
    auto entry = make_guarded_entry(calls, miss.self, guards,
                                    {answer, described.attr("captures")});
    target = Target();
    const Shared<Table> alone = Table::empty()->with(entry);
    if (!is_served(miss, *alone, target)) refuse_entry(miss, entry);
    if (calls.is_over()) return Action::target;
    calls.add(entry, is_code);
    ++calls.compiled;
    target.is_like = !is_code;
    return Action::target;
}

/// Asks; all user code in it runs with the hook off.
Action decide(const Miss& miss, Target& target) {
    const UserCode user_code;
    const Shared<Table> before = miss.calls.table();
    py::object described;
    Action action = guarded_step([&] { return describe(miss, described); });
    if (action != Action::ask) return action;
    const Owned<> asked = miss.calls.on_miss;
    const auto answer =
        Owned<>::steal(PyObject_CallOneArg(asked.get(), described.ptr()));
    if (!answer) return Action::raise;
    return guarded_step([&] {
        return interpret(miss, described, answer.get(), before, target);
    });
}

/// Binds the call as the function does, and decides.
Action bind_and_decide(GuardedCalls& calls, PyFunctionObject* function,
                       const VectorCall& call, Target& target) {
    // A guard may have given it other code since the call was looked up.
    if (function->func_code != as_object(calls.code())) return Action::plain;
    const auto slots = static_cast<size_t>(calls.code()->co_nlocalsplus);
    auto* storage = reinterpret_cast<SlotWord*>(GUARDTREE_ROOM(slots));
    ArgumentsView view(function, {storage, slots});
    view.arguments_are_held();  // by answer_miss
    if (!view.bind(call.arguments, call.count, call.keywords)) {
        if (PyErr_Occurred()) return Action::raise;
        if (calls.has_plain()) return Action::plain;  // it tells what does not fit
        return guarded_step([&]() -> Action { refuse_call(function); });
    }
    py::object self;
    const Action action = guarded_step([&] {
        self = self_of(calls, function);
        return Action::ask;
    });
    if (action == Action::raise) return action;
    return decide({calls, self, function, call, view}, target);
}

PyObject* answer_miss(GuardedCalls& calls, PyFunctionObject* function,
                      const VectorCall& call) {
    const Shared<GuardedCalls> pinned(&calls);
    const HeldCall held(as_object(function), call.arguments, call.count, call.keywords,
                        GUARDTREE_ROOM(HeldCall::room(call.count, call.keywords)));
    const VectorCall own{held.arguments(), held.count(), held.names()};
    // Inside guards and callbacks nobody is asked who need not be.
    if (calls.has_plain() && hook_thread.is_paused())
        return calls.run_plain(function, own);
    Target target;
    switch (bind_and_decide(calls, function, own, target)) {
    case Action::plain: return calls.run_plain(function, own);
    case Action::target: return GuardedCalls::call_target(target, function, own);
    default: return nullptr;
    }
}

}  // namespace

void answer_misses() {
    set_miss_answer(answer_miss);
}

}  // namespace guardtree
