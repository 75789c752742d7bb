// Entries of guarded functions and dispatchers: making, removing, explaining them.
// SPDX-License-Identifier: MIT
#include "guarded_entries.h"

#include <string>

#include "../../framehook/replacement.h"
#include "../../guards/lookup/differences.h"
#include "../bindings.h"
#include "../explanations.h"
#include "../function.h"
#include "../guard_manager.h"
#include "../table_entry.h"

namespace guardtree {

GuardedCalls& calls_of(py::handle self) {
    if (GuardedCalls* found = calls_of_dispatcher(self)) return *found;
    if (GuardedCalls* found = calls_of_function(self)) return *found;
    Diagnostic problem;
    refuse_operand(problem, "a GuardedFunction or a Dispatcher", self.ptr());
    throw_diagnostic(problem);
}

void require_free_names(PyCodeObject* code, const Captures& captures) {
    if (!captures.names) return;
    const std::string owner = short_repr(code->co_qualname);
    if (code->co_flags & CO_VARKEYWORDS) {
        throw py::value_error(
            "captures: a call of " + owner +
            " may have any keywords, and these could be among them: use a Table "
            "(lookup_call), or guards of a function without ** arguments");
    }
    for (const py::handle each : py::handle(captures.names.get())) {
        PyObject* name = each.ptr();
        if (!is_plain_name(name)) {
            throw py::value_error(
                "captures: expected names of keyword arguments (ASCII identifiers), "
                "found " +
                short_repr(name));
        }
        const int slot = find_slot(code, name);
        if (slot < 0 || slot >= argument_slots(code)) continue;
        throw py::value_error("captures: " + short_repr(name) + " is an argument of " +
                              owner + ": use another name");
    }
}

namespace {

/// The function that code makes, whose bound locals are arguments.
Owned<> function_of_code(const GuardedCalls& calls, py::handle code,
                         const Captures& captures) {
    auto* replacement = reinterpret_cast<PyCodeObject*>(code.ptr());
    py::object called = py::reinterpret_borrow<py::object>(code);
    if (captures.names) {
        capture_slots(captures, replacement);
        const py::object with_arguments =
            py::module_::import("guardtree.bytecode").attr("with_arguments");
        called = with_arguments(code, py::handle(captures.names.get()));
    }
    Owned<> made =
        calls.function_of(replacement, reinterpret_cast<PyCodeObject*>(called.ptr()));
    if (!made) throw py::error_already_set();
    return made;
}

/// The same for the code of an entry, where calls are those of a function.
Owned<> target_of_code(const GuardedCalls& calls, py::handle code,
                       const Captures& captures) {
    if (!calls.is_of_function()) {
        throw py::type_error(
            "a code object runs with the globals, closure and defaults of a Python "
            "function, and there is none below this Dispatcher: give a callable, such "
            "as types.FunctionType(code, globals())");
    }
    if (captures.are_arguments()) {
        throw py::type_error(
            "a list of captures replaces the arguments of a callable; code keeps its "
            "arguments: give a dict, whose names are locals of the code");
    }
    return function_of_code(calls, code, captures);
}

/// What a hit is to call: a callable, or the function that code makes.
Owned<> target_of(const GuardedCalls& calls, py::handle self, py::handle given,
                  const Captures& captures) {
    PyObject* target = given.ptr();
    require_free_names(calls.code(), captures);
    if (PyCode_Check(target)) return target_of_code(calls, given, captures);
    if (calls_of_function(self) && target == as_object(calls.function())) {
        throw py::value_error(
            "the guarded function cannot be its own target, which would call itself "
            "without end: give other code, or another callable (`original` runs the "
            "function past its guards)");
    }
    if (target == self.ptr()) {
        throw py::value_error(
            "a Dispatcher cannot be its own payload, which would call itself without "
            "end: give another callable");
    }
    if (!PyCallable_Check(target)) {
        Diagnostic problem;
        refuse_operand(problem, "a code object or a callable", target);
        problem.message = "add(target): " + problem.message;
        throw_diagnostic(problem);
    }
    return Owned<>::share(target);
}

/// The captured paths are all arguments of a call, in their order: then nothing is to
/// be captured.
bool are_all_arguments(const Tree& tree, PyCodeObject* code, const Captures& captures) {
    const auto count = static_cast<size_t>(argument_slots(code));
    if (captures.nodes.size() != count) return false;
    for (size_t slot = 0; slot < count; ++slot) {
        const Op& step = tree.node(captures.nodes[slot]).step;
        if (step.code() != OpCode::Local) return false;
        PyObject* const name = step.as<Local>().name.value;
        if (find_slot(code, name) != static_cast<int>(slot)) return false;
    }
    return true;
}

}  // namespace

Shared<Entry> make_guarded_entry(const GuardedCalls& calls, py::handle self,
                                 py::handle guards, const Payload& payload) {
    const Tree& tree = GuardManager::of(guards).tree().tree;
    const Captures captures = read_captures(payload.captures, guards);
    Owned<> target = target_of(calls, self, payload.target, captures);
    const bool takes_arguments =
        captures.are_arguments() && are_all_arguments(tree, calls.code(), captures);
    auto entry =
        make_entry(tree, calls.code(), std::move(target), Owned<>::share(guards.ptr()),
                   takes_arguments ? Captures() : captures);
    entry->takes_arguments = takes_arguments;
    return entry;
}

void set_limits(GuardedCalls& calls, py::handle entry_limit, py::handle when_full) {
    size_t limit = calls.entry_limit;
    WhenFull full = calls.when_full;
    if (!entry_limit.is_none()) {
        const py::ssize_t given =
            read_size(entry_limit, {"Dispatcher", "entry_limit"}, "a positive int");
        if (given < 1) {
            throw py::value_error("entry_limit: expected a positive int, found " +
                                  std::to_string(given));
        }
        limit = static_cast<size_t>(given);
    }
    if (!when_full.is_none()) {
        PyObject* const name = when_full.ptr();
        const auto is = [&](const char* word) {
            return PyUnicode_Check(name) &&
                   PyUnicode_CompareWithASCIIString(name, word) == 0;
        };
        if (!is("evict") && !is("keep")) {
            throw py::value_error("when_full: expected 'evict' or 'keep', found " +
                                  short_repr(name));
        }
        full = is("keep") ? WhenFull::keep : WhenFull::evict;
    }
    calls.entry_limit = limit;
    calls.when_full = full;
}

Owned<> read_on_miss(py::handle given) {
    if (given.is_none()) return {};
    if (PyCallable_Check(given.ptr())) return Owned<>::share(given.ptr());
    refuse_argument({"guardtree", "on_miss"}, "a callable or None", given);
}

void refuse_call(PyFunctionObject* function) {
    const py::object signature = py::module_::import("inspect").attr("signature")(
        py::handle(as_object(function)));
    throw py::type_error("the arguments do not fit " +
                         py::cast<std::string>(py::handle(function->func_qualname)) +
                         py::cast<std::string>(py::str(signature)));
}

py::list explain_entries(const View& view, std::span<const Shared<Entry>> entries) {
    py::list explained;
    const bool is_done = with_user_code(view, [&](const View& held) {
        for (const auto& each : entries) {
            Explanation explanation;
            if (!explain(each->program, held, explanation)) return false;
            tell_nodes_of(each->source.get(), explanation);
            explained.append(
                py::make_tuple(TableEntryHandle{each}, std::move(explanation)));
        }
        return true;
    });
    if (!is_done) throw py::error_already_set();
    return explained;
}

namespace {

/// A call's arguments in a vector of its own.
struct OwnCall {
    OwnCall(const py::args& arguments, const py::kwargs& keywords) {
        for (const py::handle each : arguments) values.push_back(each.ptr());
        for (const auto& each : keywords) values.push_back(each.second.ptr());
        if (!keywords.size()) return;
        names = Owned<>::steal(PySequence_Tuple(keywords.ptr()));
        if (!names) throw py::error_already_set();
    }

    VectorCall call() const {
        const size_t named =
            names ? static_cast<size_t>(PyTuple_GET_SIZE(names.get())) : 0;
        return {values.data(), values.size() - named, names.get()};
    }

    std::vector<PyObject*> values;
    Owned<> names;
};

/// The function that calls bind as, held. Throws ReferenceError when it is gone.
Owned<PyFunctionObject> function_of(const GuardedCalls& calls) {
    if (PyFunctionObject* found = calls.function())
        return Owned<PyFunctionObject>::share(found);
    PyErr_SetString(PyExc_ReferenceError, "the guarded function is gone");
    throw py::error_already_set();
}

TableEntryHandle add(const py::object& self, py::handle guards, py::handle target,
                     py::handle captures) {
    const Shared<GuardedCalls> calls(&calls_of(self));
    if (!calls->function() || calls->is_over()) {
        throw py::value_error(
            "this guards no function any more: call guard_function again");
    }
    if (calls->is_closed()) {
        throw py::value_error(
            "there are " + std::to_string(calls->entry_limit) +
            " entries, as many as entry_limit allows, and when_full is 'keep': remove "
            "one, or raise the limit");
    }
    auto entry = make_guarded_entry(*calls, self, guards, {target, captures});
    calls->add(entry, PyCode_Check(target.ptr()));
    return {entry};
}

void remove(const py::object& self, const TableEntryHandle& handle) {
    if (!calls_of(self).remove(*handle.entry))
        throw py::value_error("this entry is not in the table");
}

py::list entries(const py::object& self) {
    const Shared<Table> table = calls_of(self).table();
    py::list all;
    for (const auto& each : table->entries()) all.append(TableEntryHandle{each});
    return all;
}

py::dict stats(const py::object& self) {
    const GuardedCalls& calls = calls_of(self);
    uint64_t errors = 0;
    for (const auto& each : calls.table()->entries()) errors += each->errors;
    py::dict counts;
    counts["hits"] = calls.hits();
    counts["misses"] = calls.misses;
    counts["errors"] = errors;
    counts["entries"] = calls.table()->entries().size();
    counts["other_code"] = calls.other_code;
    counts["compiled"] = calls.compiled;
    counts["evicted"] = calls.evicted;
    return counts;
}

py::dict differences_of(const py::object& self) {
    const Shared<Table> table = calls_of(self).table();
    py::dict all;
    for (const Difference& each : differences(*table))
        all[each.fact.c_str()] = each.demands;
    return all;
}

py::object find(const py::object& self, const py::args& arguments,
                const py::kwargs& keywords) {
    const Shared<GuardedCalls> calls(&calls_of(self));
    const OwnCall given(arguments, keywords);
    const auto function = function_of(*calls);
    const Shared<Table> table = calls->table();
    Target target;
    if (calls->find(*table, function.get(), given.call(), target) ==
        GuardedCalls::Found::exception) {
        throw py::error_already_set();
    }
    if (!target.entry) return py::none();
    return py::cast(
        TableEntryHandle{Shared<Entry>(const_cast<Entry*>(target.entry))});
}

py::object explain_call(const py::object& self, const py::args& arguments,
                        const py::kwargs& keywords) {
    const Shared<GuardedCalls> calls(&calls_of(self));
    const OwnCall given(arguments, keywords);
    const auto function = function_of(*calls);
    const Shared<Table> table = calls->table();
    if (function.get()->func_code != as_object(calls->code())) {
        throw py::type_error(
            "the function's code is not the code that its entries were made for, so "
            "its calls run unguarded: restore its __code__, or guard it again");
    }
    const VectorCall call = given.call();
    const auto slots = static_cast<size_t>(calls->code()->co_nlocalsplus);
    auto* storage = reinterpret_cast<SlotWord*>(GUARDTREE_ROOM(slots));
    ArgumentsView view(function.get(), {storage, slots});
    if (!view.bind(call.arguments, call.count, call.keywords)) {
        if (PyErr_Occurred()) throw py::error_already_set();
        refuse_call(function.get());
    }
    const py::list explained = explain_entries(view, table->entries());
    return py::module_::import("guardtree.explanations")
        .attr("explanation_of_calls")(py::handle(function.get()->func_qualname),
                                      explained, differences_of(self));
}

py::object report(const py::object& self) {
    return py::module_::import("guardtree.explanations").attr("report_of_calls")(self);
}

}  // namespace

void bind_entries(py::handle type) {
    define(type, "add", calling<&add>, py::arg("guards"), py::arg("target"),
           py::kw_only(), py::arg("captures") = py::none(),
           "Adds guards, as they are now, behind all others. `target`: what a call "
           "that passes them runs. Code (of the same arguments) runs with the "
           "function's globals, closure and defaults; any other callable is called "
           "with the arguments as the call gave them. `captures`: paths of the "
           "guards, whose values the target gets, the very ones that were checked. A "
           "dict of names to paths: a callable gets them as further keyword arguments, "
           "code as locals of its own. A list of paths: the callable gets these "
           "values, in this order, and nothing else.");
    define(type, "remove", calling<&remove>, py::arg("entry"), "Takes an entry out.");
    define(type, "entries", calling<&entries>, "The entries, the oldest first.");
    define(type, "find", calling<&find>,
           "The entry that would serve a call with these arguments, or None. Nothing "
           "is called or counted.");
    define(type, "explain", calling<&explain_call>,
           "Why a call with these arguments would miss: every entry's failed guards.");
    define(type, "report", calling<&report>,
           "A text: the counts, each entry with its hits and guards, and what the "
           "entries differ in.");
    define(type, "differences", calling<&differences_of>,
           "The facts that entries do not agree on, with what each entry demands.");
    define(type, "stats", calling<&stats>,
           "Counts of calls: hits, misses (looked up, not served), other_code (ran "
           "plain: the function's __code__ was another); errors of guards; entries; "
           "compiled (entries by on_miss), evicted (entries that gave their place).");
    define(type, "__len__", [](const py::object& self) {
        return calls_of(self).table()->entries().size();
    });
    define_property(
        type, "on_miss",
        [](const py::object& self) {
            return object_or_none(calls_of(self).on_miss.get());
        },
        "What is asked about calls that no entry serves, or None.");
}

}  // namespace guardtree
