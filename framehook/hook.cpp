// The evaluator: the hot path of a frame, and what happens on a miss.
// SPDX-License-Identifier: MIT
//
// How it works. evaluate_frame decides whether the frame is worth a look and tail-calls
// the evaluator below. decide() looks the code's table up; a hit makes the frame a
// frame of the entry's code. All that a look-up needs is gone from the C stack before
// the frame runs.
//
// Requirements that a change must keep: 1. a frame that is not run by an evaluator is
// cleared exactly once (call_replacement, abandon); 2. nothing of the cache is touched
// after substitution, which may free the code and its cache; 3. generators are left
// alone but at their first instruction.
#include "hook.h"

#include "../framelocals/cpython/cpython.h"
#include "../framelocals/exception.h"
#include "../framelocals/frame_view.h"

#include "stack_floor.h"
#include "substitution.h"
#include "thread_state.h"

namespace guardtree {
namespace {

Evaluator previous = nullptr;
CallbackProtocol protocol;

/// What is to be done with a frame after decide().
enum class Next : uint8_t { evaluate, done };

PyObject* evaluate_below(PyThreadState* thread, CPython::Frame* frame, int throwing) {
    if (previous) [[unlikely]]
        return previous(thread, frame, throwing);
    return _PyEval_EvalFrameDefault(thread, frame, throwing);
}

/// Leaves a frame that never ran, with an exception set.
[[gnu::cold]] Next abandon(PyThreadState* thread, CPython::Frame* frame,
                           PyObject** result) noexcept {
    CPython::clear_and_pop(thread, frame);
    *result = nullptr;
    return Next::done;
}

Next run_code(PyThreadState* thread, CPython::Frame* frame, PyCodeObject* code,
              PyCodeObject* replacement, CodeCounters& counters,
              PyObject** result) noexcept {
    ++counters.substituted;
    if (substitute_in_place(thread, frame, code, replacement)) [[likely]] {
        return Next::evaluate;
    }
    --counters.substituted;
    ++counters.called;
    *result = call_replacement(thread, frame, code, replacement);
    return Next::done;
}

[[gnu::cold]] MissOutcome ask_callback(const View& view, CodeCache& cache) {
    const Owned<> callback = current_callback();
    const HookPause pause;
    const Owned<> arguments = protocol.arguments(view, cache);
    if (!arguments) return {MissOutcome::raise, {}};
    const auto answer =
        Owned<>::steal(PyObject_Call(callback.get(), arguments.get(), nullptr));
    protocol.close(arguments.get());
    if (!answer) return {MissOutcome::raise, {}};
    return protocol.interpret(answer.get(), view);
}

[[gnu::cold, gnu::noinline]] Next handle_miss(PyThreadState* thread,
                                              CPython::Frame* frame, PyCodeObject* code,
                                              CodeCache* cache, const View& view,
                                              PyObject** result) {
    ++cache->counters.misses;
    cache->drop_dead_entries();
    if (hook_thread.mode != Mode::compile || !protocol.arguments) return Next::evaluate;
    if (cache->table()->entries().size() >= entry_limit()) {
        cache->limit_reached = true;
        return Next::evaluate;
    }
    const int built_before = view.dicts_built();
    const MissOutcome outcome = ask_callback(view, *cache);
    cache->counters.dicts_built +=
        static_cast<uint64_t>(view.dicts_built() - built_before);
    switch (outcome.action) {
    case MissOutcome::run_plain: return Next::evaluate;
    case MissOutcome::raise: return abandon(thread, frame, result);
    case MissOutcome::skip_code: cache->skipped = true; return Next::evaluate;
    case MissOutcome::run_entry: break;
    }
    cache->add(outcome.entry);
    auto* replacement = reinterpret_cast<PyCodeObject*>(outcome.entry->payload.get());
    return run_code(thread, frame, code, replacement, cache->counters, result);
}

CodeCache* find_cache(PyCodeObject* code) noexcept {
    return static_cast<CodeCache*>(CPython::code_extra(code, code_cache_index));
}

Next run_hit(PyThreadState* thread, CPython::Frame* frame, PyCodeObject* code,
             CodeCache& cache, const Entry& entry, PyObject** result) noexcept {
    ++entry.hits;
    ++cache.counters.hits;
    auto* replacement = reinterpret_cast<PyCodeObject*>(entry.payload.get());
    return run_code(thread, frame, code, replacement, cache.counters, result);
}

/// A look-up that may run user code: the table is pinned, the hook is off meanwhile.
[[gnu::noinline]] Next decide_with_python(PyThreadState* thread, CPython::Frame* frame,
                                          PyCodeObject* code, CodeCache& cache,
                                          const View& view, PyObject** result) {
    const Shared<Table> table = cache.table();
    auto** values = static_cast<PyObject**>(
        __builtin_alloca(sizeof(PyObject*) * table->value_count()));
    const Entry* entry = nullptr;
    {
        const HookPause pause;
        entry = lookup(*table, view, values);
    }
    cache.counters.dicts_built += static_cast<uint64_t>(view.dicts_built());
    if (entry) return run_hit(thread, frame, code, cache, *entry, result);
    if (PyErr_Occurred()) return abandon(thread, frame, result);
    return handle_miss(thread, frame, code, &cache, view, result);
}

[[gnu::noinline]] Next decide(PyThreadState* thread, CPython::Frame* frame,
                              PyCodeObject* code, CodeCache* cache, PyObject** result) {
    if (hook_thread.active == Mode::passing) [[unlikely]] {
        hook_thread.active = hook_thread.mode;
        if (hook_thread.passing == code) return Next::evaluate;
    }
    if (!CPython::at_start(frame, code) || CPython::is_tracing(thread)) {
        return Next::evaluate;
    }
    if (!cache) {
        if (hook_thread.mode != Mode::compile) return Next::evaluate;
        cache = CodeCache::of(code);
        if (!cache) return abandon(thread, frame, result);
    }
    const FrameView view(frame);
    const Table& table = *cache->table();
    if (!table.entries().empty()) {
        ++cache->counters.lookups;
        if (table.calls_python()) {
            return decide_with_python(thread, frame, code, *cache, view, result);
        }
        auto** values = static_cast<PyObject**>(
            __builtin_alloca(sizeof(PyObject*) * table.value_count()));
        if (const Entry* entry = lookup(table, view, values)) [[likely]] {
            return run_hit(thread, frame, code, *cache, *entry, result);
        }
    }
    return handle_miss(thread, frame, code, cache, view, result);
}

[[gnu::cold, gnu::noinline]] PyObject* raise_recursion(PyThreadState* thread,
                                                       CPython::Frame* frame) {
    PyErr_SetString(
        PyExc_RecursionError,
        "maximum recursion depth exceeded: under a frame evaluator each call "
        "takes C stack, and the thread's is used up");
    // Raised where the frame stands, so that a generator's handlers run.
    return evaluate_below(thread, frame, 1);
}

/// The part of evaluate_frame for threads with a callback.
[[gnu::noinline]] PyObject* evaluate_hooked(PyThreadState* thread,
                                            CPython::Frame* frame) {
    PyCodeObject* code = CPython::code(frame);
    CodeCache* cache = find_cache(code);
    if (cache ? cache->skipped : hook_thread.active == Mode::lookup_only) {
        return evaluate_below(thread, frame, 0);
    }
    PyObject* result = nullptr;
    if (decide(thread, frame, code, cache, &result) == Next::done) return result;
    return evaluate_below(thread, frame, 0);
}

}  // namespace

PyObject* evaluate_frame(PyThreadState* thread, CPython::Frame* frame, int throwing) {
    if constexpr (!CPython::checks_c_stack) {
        if (is_stack_low(hook_thread.stack_floor) && !throwing) [[unlikely]] {
            return raise_recursion(thread, frame);
        }
    }
    if (hook_thread.active == Mode::off || throwing) {
        return evaluate_below(thread, frame, throwing);
    }
    return evaluate_hooked(thread, frame);
}

Evaluator previous_evaluator() noexcept {
    return previous;
}

void set_previous_evaluator(Evaluator evaluator) noexcept {
    previous = evaluator;
}

void set_callback_protocol(const CallbackProtocol& of_callbacks) noexcept {
    protocol = of_callbacks;
}

}  // namespace guardtree
