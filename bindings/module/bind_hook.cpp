// set_eval_frame and related functions: callbacks, state per code object, counters.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string_view>

#include <pybind11/pybind11.h>

#include "../../framehook/guarded_function.h"
#include "../../framehook/hook.h"
#include "../../framehook/replacement.h"
#include "../../framehook/thread_state.h"
#include "../../framelocals/no_memory.h"
#include "../../guards/assumptions/watched_dicts.h"
#include "../bindings.h"
#include "../frame.h"
#include "../guard_manager.h"
#include "../guarded_code.h"

namespace guardtree {
namespace {

PyObject* ask_again = nullptr;  // the constant, never freed

/// Whether a frame belongs to guardtree's own modules, by its globals. Code that they
/// compile has the same globals. The examples, the demo and the benchmarks count as
/// programs.
bool is_own(const View& view) {
    PyObject* name = item_by_name(view.globals().get(), "__name__");
    if (!name || !PyUnicode_CheckExact(name)) return false;
    const char* text = PyUnicode_AsUTF8(name);
    if (!text) drop_exception();
    std::string_view module = text ? text : "";
    constexpr std::string_view package = "guardtree";
    if (!module.starts_with(package)) return false;
    module.remove_prefix(package.size());
    if (!module.empty() && module.front() != '.') return false;
    constexpr std::string_view programs[] = {".examples", ".demo", ".bench"};
    return std::ranges::none_of(
        programs, [&](std::string_view each) { return module.starts_with(each); });
}

/// Returns (frame, first entry or None, frame_state). The frame is open until
/// close_callback.
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
    const Shared<KeptView> view = frame->close();
    if (CodeCache* cache = CodeCache::find(view->code().get()))
        cache->counters.dicts_built += static_cast<uint64_t>(view->dicts_built());
}

MissOutcome interpret_answer(PyObject* answer, const View& view) {
    if (answer == Py_None) return {MissOutcome::skip_code, {}};
    if (answer == ask_again) return {MissOutcome::run_plain, {}};
    const TextCall texts;
    try {
        if (PyObject_TypeCheck(answer, Box<GuardedCode>::type)) {
            const auto& guarded = initialised<GuardedCode>(answer);
            return {MissOutcome::run_entry, guarded.entry_for(view.code().get())};
        }
        throw py::type_error(
            "a callback returns None (skip this code from now on), ASK_AGAIN (run it "
            "plain this time) or a GuardedCode, not " +
            found_text(answer));
    } catch (...) {
        translate_exception();
        texts.raise_kept();
        return {MissOutcome::raise, {}};
    }
}

py::object take(Owned<> object) {
    if (!object) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(object.release());
}

py::dict code_stats(py::handle code) {
    const CodeCache* cache = CodeCache::find(code_of_python(code));
    const CodeCounters counters = cache ? cache->counters : CodeCounters();
    const Shared<Table> table = cache ? cache->table() : Table::empty();
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
    stats["substituted"] =
        hits + counters.compiled - counters.not_run - counters.called;
    stats["called"] = counters.called;
    stats["evicted"] = counters.evicted;
    stats["invalidated"] = counters.invalidated;
    stats["skipped"] = cache && cache->skipped;
    stats["failure"] = cache ? cache->failure : std::string();
    stats["limit_reached"] = cache && cache->limit_reached;
    return stats;
}

py::list cache_entries(py::handle code) {
    py::list entries;
    const CodeCache* cache = CodeCache::find(code_of_python(code));
    if (!cache) return entries;
    const Shared<Table> table = cache->table();
    for (size_t index = 0; index < table->entries().size(); ++index) {
        entries.append(CacheEntryHandle(table, index));
    }
    return entries;
}

void reset_code(py::handle code) {
    if (CodeCache* cache = CodeCache::find(code_of_python(code))) cache->reset();
}

/// A named constant with a readable repr.
py::object make_constant(const char* group, const char* name, const char* meaning) {
    const py::object type = py::module_::import("enum").attr("Enum");
    py::dict names;
    names[name] = meaning;
    const py::object made = type(group, names, py::arg("module") = "guardtree");
    return made.attr(name);
}

/// The function that creates the exception of a miss. guardtree.misses sets it on
/// import.
PyObject* miss_maker = nullptr;

void set_miss_maker(py::object make) {
    Owned<>::steal(std::exchange(miss_maker, make.release().ptr())).reset();
}

/// Sets the exception that guardtree.misses creates for the frame.
void raise_miss(const View& view, const CodeCache&) {
    try {
        const OpenFrame frame(view);
        const py::object error = py::handle(miss_maker)(frame.object());
        PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr());
    } catch (...) {
        translate_exception();
    }
}

// Listeners for misses and new entries (guardtree.logs), or null.
PyObject* miss_observer = nullptr;
PyObject* entry_observer = nullptr;

void note_miss(const View& view) {
    try {
        const OpenFrame frame(view);
        const auto told =
            Owned<>::steal(PyObject_CallOneArg(miss_observer, frame.object().ptr()));
        if (!told) PyErr_WriteUnraisable(miss_observer);
    } catch (...) {
        translate_exception();
        PyErr_WriteUnraisable(miss_observer);
    }
}

void note_entry(PyCodeObject* code, const CodeCache& cache) {
    try {
        const Shared<Table> table = cache.table();
        const size_t last = table->entries().size() - 1;
        const py::object entry = py::cast(CacheEntryHandle(table, last));
        const auto told = Owned<>::steal(PyObject_CallFunctionObjArgs(
            entry_observer, as_object(code), entry.ptr(), nullptr));
        if (!told) PyErr_WriteUnraisable(entry_observer);
    } catch (...) {
        translate_exception();
        PyErr_WriteUnraisable(entry_observer);
    }
}

void observe(const py::object& entries, const py::object& misses) {
    const auto kept = [](const py::object& given) {
        return given.is_none() ? nullptr : given.inc_ref().ptr();
    };
    CallbackProtocol changed = callback_protocol();
    const auto old_entries =
        Owned<>::steal(std::exchange(entry_observer, kept(entries)));
    const auto old_misses = Owned<>::steal(std::exchange(miss_observer, kept(misses)));
    changed.note_entry = entry_observer ? note_entry : nullptr;
    changed.note_miss = miss_observer ? note_miss : nullptr;
    set_callback_protocol(changed);
}

void bind_code_state(py::module_& module) {
    define_function(module, "reset_code", calling<&reset_code>, py::arg("code"),
                    "Forget all that is kept on this code: entries, skip, counters, "
                    "frame_state. Safe at any time, from guards and callbacks too.");
    define_function(
        module, "cache_entries", calling<&cache_entries>, py::arg("code"),
        "The entries of this code, oldest first: the order they are tried in.");
    define_function(
        module, "code_stats", calling<&code_stats>, py::arg("code"),
        "Counters of this code: lookups, hits, misses, errors, entries, compiled, "
        "dicts_built, substituted, called, evicted, invalidated, skipped, failure "
        "(why, where a compiler gave up), limit_reached.");
}

void bind_test_switches(py::module_& module) {
    define_function(
        module, "_force_called", [](bool on) { always_call = on; }, py::arg("on"),
        "For tests: run every replacement by the fall-back, as a call.");
    define_function(module, "_observe", calling<&observe>, py::arg("entries"),
                    py::arg("misses"),
                    "For guardtree.logs: who is told of new entries and of misses.");
    define_function(module, "_set_miss_maker", calling<&set_miss_maker>,
                    py::arg("make"),
                    "For guardtree.misses: what makes the exception of a miss.");
    define_function(module, "_hook_installed", calling<&is_hook_installed>);
    define_function(module, "_hooked_threads", calling<&hooked_threads>);
    define_function(module, "_dicts_built", calling<&dicts_built>);
    define_function(module, "_shut_down", [] {
        observe(py::none(), py::none());
        GuardedFunction::release_all();
        shut_down();
        tear_down_watched_dicts();
    });
}

}  // namespace

PyCodeObject* code_of_python(py::handle object) {
    PyObject* pointer = object.ptr();
    if (PyMethod_Check(pointer)) pointer = PyMethod_GET_FUNCTION(pointer);
    if (PyFunction_Check(pointer)) pointer = PyFunction_GET_CODE(pointer);
    if (PyCode_Check(pointer)) return reinterpret_cast<PyCodeObject*>(pointer);
    Diagnostic problem;
    refuse_operand(problem, "a code object or a function", object.ptr());
    throw_diagnostic(problem);
}

void bind_hook(py::module_& module) {
    if (!CodeCache::set_up()) throw py::error_already_set();
    set_callback_protocol(
        {is_own, callback_arguments, close_callback, interpret_answer, raise_miss});
    module.attr("ASK_AGAIN") =
        make_constant("Answer", "ASK_AGAIN", "plain this time, ask again");
    module.attr("RAISE_ON_MISS") =
        make_constant("Mode", "RAISE_ON_MISS", "hits run, misses raise");
    ask_again = py::object(module.attr("ASK_AGAIN")).release().ptr();
    set_raise_on_miss(py::object(module.attr("RAISE_ON_MISS")).release().ptr());
    define_function(
        module, "set_eval_frame",
        [](py::handle callback) { return take(set_callback(callback.ptr())); },
        py::arg("callback"),
        "Set this thread's callback and return the prior one. None: off. False: run "
        "what is cached. RAISE_ON_MISS: the same, but a miss of code that has entries "
        "raises GuardMiss. A callable (frame, cache_entry, frame_state): asked when no "
        "entry's guards pass; it returns None (skip this code from now on), ASK_AGAIN "
        "(plain this time) or a GuardedCode, which is kept and run at once. "
        "RuntimeWarning, once, where another evaluator took the place of guardtree's.");
    define_function(
        module, "get_eval_frame", [] { return take(current_callback()); },
        "This thread's callback: None, False, RAISE_ON_MISS or a callable.");
    bind_code_state(module);
    bind_test_switches(module);
}

}  // namespace guardtree
