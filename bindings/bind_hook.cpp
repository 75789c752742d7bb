// Python's set_eval_frame and what goes with it: callbacks, per-code state, counters.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "../framehook/hook.h"
#include "../framehook/replacement.h"
#include "../framehook/thread_state.h"

#include "bindings.h"
#include "frame.h"
#include "guard_manager.h"
#include "guarded_code.h"

namespace guardtree {
namespace {

PyObject* ask_again = nullptr;  // the constant, kept for the process

/// (frame, first entry or None, frame_state). The frame is open until close_callback.
Owned<> callback_arguments(const View& view, CodeCache& cache) {
    try {
        PyObject* state = cache.frame_state();
        if (!state) return {};
        const py::object frame = py::cast(FrameHandle(view, code_in_callback()));
        py::tuple arguments = py::make_tuple(frame, CacheEntryHandle::first_of(&cache),
                                             py::handle(state));
        set_code_in_callback(view.code().get());
        return Owned<>::steal(arguments.release().ptr());
    } catch (...) {
        translate_exception();
        return {};
    }
}

void close_callback(PyObject* arguments) noexcept {
    FrameHandle* frame = FrameHandle::from_python(PyTuple_GET_ITEM(arguments, 0));
    set_code_in_callback(frame->outer_code());
    frame->close();
}

MissOutcome interpret_answer(PyObject* answer, const View& view) {
    if (answer == Py_None) return {MissOutcome::skip_code, {}};
    if (answer == ask_again) return {MissOutcome::run_plain, {}};
    try {
        if (py::isinstance<GuardedCode>(answer)) {
            const auto& guarded = initialised<GuardedCode>(answer);
            return {MissOutcome::run_entry, guarded.entry_for(view.code().get())};
        }
        throw py::type_error(
            "a callback returns None (skip this code from now on), ASK_AGAIN (run it "
            "plain "
            "this time) or a GuardedCode, not " +
            found_text(answer));
    } catch (...) {
        translate_exception();
        return {MissOutcome::raise, {}};
    }
}

PyCodeObject* code_of_python(py::handle object) {
    PyObject* pointer = object.ptr();
    if (PyMethod_Check(pointer)) pointer = PyMethod_GET_FUNCTION(pointer);
    if (PyFunction_Check(pointer)) pointer = PyFunction_GET_CODE(pointer);
    if (PyCode_Check(pointer)) return reinterpret_cast<PyCodeObject*>(pointer);
    Diagnostic problem;
    refuse_operand(problem, "a code object or a function", object.ptr());
    throw_diagnostic(problem);
}

py::object take(Owned<> object) {
    if (!object) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(object.release());
}

py::dict code_stats(py::handle code) {
    const CodeCache* cache = CodeCache::find(code_of_python(code));
    const CodeCounters counters = cache ? cache->counters : CodeCounters();
    const Shared<Table> table = cache ? cache->table() : make_shared_counted<Table>();
    uint64_t errors = 0;
    for (const Shared<Entry>& entry : table->entries()) errors += entry->errors;
    const uint64_t hits = cache ? cache->hits() : 0;
    py::dict stats;
    stats["lookups"] = hits + counters.failed_lookups;
    stats["hits"] = hits;
    stats["misses"] = counters.misses;
    stats["errors"] = errors;
    stats["entries"] = table->entries().size();
    stats["compiled"] = counters.compiled;
    stats["dicts_built"] = counters.dicts_built;
    stats["substituted"] = hits + counters.compiled - counters.called;
    stats["called"] = counters.called;
    stats["skipped"] = cache && cache->skipped;
    stats["limit_reached"] = cache && cache->limit_reached;
    return stats;
}

py::list cache_entries(py::handle code) {
    py::list entries;
    py::object entry =
        CacheEntryHandle::first_of(CodeCache::find(code_of_python(code)));
    while (!entry.is_none()) {
        entries.append(entry);
        entry = entry.attr("next");
    }
    return entries;
}

void skip_code(py::handle code) {
    CodeCache* cache = CodeCache::of(code_of_python(code));
    if (!cache) throw py::error_already_set();
    cache->skipped = true;
}

void reset_code(py::handle code) {
    if (CodeCache* cache = CodeCache::find(code_of_python(code))) cache->reset();
}

size_t change_entry_limit(py::ssize_t limit) {
    if (limit < 0) throw py::value_error("expected a limit >= 0");
    return set_entry_limit(static_cast<size_t>(limit));
}

/// The named constant: a str of its own, so that it prints as what it is.
py::object make_ask_again() {
    const py::object type = py::module_::import("enum").attr("Enum");
    py::dict names;
    names["ASK_AGAIN"] = "plain this time, ask again";
    const py::object made = type("Answer", names, py::arg("module") = "guardtree");
    return made.attr("ASK_AGAIN");
}

void bind_code_state(py::module_& module) {
    module.def("skip_code", &skip_code, py::arg("code"),
               "Run this code (or function) plain from now on, until reset_code.");
    module.def("reset_code", &reset_code, py::arg("code"),
               "Forget all that is kept on this code: entries, skip, counters, "
               "frame_state. Safe at any time, from guards and callbacks too.");
    module.def("cache_entries", &cache_entries, py::arg("code"),
               "The entries of this code, oldest first: the order they are tried in.");
    module.def(
        "code_stats", &code_stats, py::arg("code"),
        "Counters of this code: lookups, hits, misses, errors, entries, compiled, "
        "dicts_built, substituted, called, skipped, limit_reached.");
    module.def(
        "set_entry_limit", &change_entry_limit, py::arg("limit"),
        "How many entries one code may have (64 at first); returns the prior limit. "
        "At the limit its callback is no longer asked: hits run, misses run plain, "
        "and code_stats says limit_reached.");
}

void bind_test_switches(py::module_& module) {
    module.def(
        "_force_called", [](bool on) { always_call = on; }, py::arg("on"),
        "For tests: run every replacement by the fall-back, as a call.");
    module.def("_hook_installed", &is_hook_installed);
    module.def("_hooked_threads", &hooked_threads);
    module.def("_dicts_built", &dicts_built);
    module.def("_shut_down", &shut_down);
}

}  // namespace

void bind_hook(py::module_& module) {
    if (!CodeCache::set_up()) throw py::error_already_set();
    set_callback_protocol({callback_arguments, close_callback, interpret_answer});
    ask_again = make_ask_again().release().ptr();
    module.attr("ASK_AGAIN") = py::handle(ask_again);
    module.def(
        "set_eval_frame",
        [](py::handle callback) { return take(set_callback(callback.ptr())); },
        py::arg("callback"),
        "Set this thread's callback and return the prior one. None: off. False: run "
        "what "
        "is cached. A callable (frame, cache_entry, frame_state): asked when no "
        "entry's "
        "guards pass; it returns None (skip this code from now on), ASK_AGAIN (plain "
        "this "
        "time) or a GuardedCode, which is kept and run at once.");
    module.def(
        "get_eval_frame", [] { return take(current_callback()); },
        "This thread's callback: None, False or a callable.");
    bind_code_state(module);
    bind_test_switches(module);
}

}  // namespace guardtree
