// The evaluator: the hot path of a frame, and the handling of misses.
// SPDX-License-Identifier: MIT
//
// How it works. evaluate_frame decides whether the frame needs a look-up. If not, it
// tail-calls the next evaluator. A table of leaf programs is looked up on the way,
// without a stack frame of ours. decide() does everything else. A hit turns the frame
// into a frame of the entry's code. The look-up has released its C stack before the
// frame runs.
//
// Requirements that a change must keep: 1. a frame that no evaluator runs is cleared
// exactly once (call_replacement, abandon); 2. substitution may free the code and its
// cache, so nothing uses the cache after it; 3. generators are handled only at their
// first instruction; 4. facts about a frame's function are tested again after user code
// ran (after_user_code).
#include "../framelocals/cpython/cpython.h"

#include "hook.h"

#include "../framelocals/exception.h"
#include "../framelocals/views/frame_view.h"
#include "../framelocals/no_memory.h"
#include "../guards/lookup/lookup.h"

#include "function_like.h"
#include "stack_floor.h"
#include "substitution.h"
#include "thread_state.h"

namespace guardtree {

CallbackProtocol hook_detail::protocol;

namespace {

using hook_detail::protocol;

Evaluator previous = nullptr;

/// Returned by functions that decide about a frame: run the frame, as it is or as a
/// frame of other code. Any other result is the result of a frame that is already
/// cleared (null: an exception is set).
PyObject* const run_frame = reinterpret_cast<PyObject*>(uintptr_t{1});

PyObject* evaluate_below(PyThreadState* thread, CPython::Frame* frame, int throwing) {
    if (previous) [[unlikely]]
        return previous(thread, frame, throwing);
    return _PyEval_EvalFrameDefault(thread, frame, throwing);
}

/// Clears a frame that never ran. An exception is set.
[[gnu::cold]] PyObject* abandon(PyThreadState* thread, CPython::Frame* frame) {
    CPython::clear_and_pop(thread, frame);
    return nullptr;
}

/// Runs an entry whose code does not fit in place.
[[gnu::noinline]] PyObject* call_entry(PyThreadState* thread, CPython::Frame* frame,
                                       PyCodeObject* code, CodeCache& cache,
                                       PyCodeObject* replacement) {
    if (!may_be_called(frame, code)) {
        ++cache.counters.not_run;
        return run_frame;
    }
    ++cache.counters.called;
    return call_replacement(thread, frame, code, replacement);
}

[[gnu::always_inline]] inline PyObject* run_entry(PyThreadState* thread,
                                                  CPython::Frame* frame,
                                                  PyCodeObject* code, CodeCache& cache,
                                                  const Entry& entry) {
    auto* replacement = reinterpret_cast<PyCodeObject*>(entry.payload.get());
    if (!fits_in_place(thread, frame, code, replacement)) [[unlikely]]
        return call_entry(thread, frame, code, cache, replacement);
    const auto kept = Owned<PyCodeObject>::share(code);
    CPython::substitute(thread, frame, code, replacement);
    return run_frame;
}

/// Turns the frame into a frame of the entry's code, with `values` as locals (steals
/// the references). Returns false if this is not possible in place, because a call
/// would start with unbound locals.
bool bind_in_place(PyThreadState* thread, CPython::Frame* frame, PyCodeObject* code,
                   const Entry& entry, PyObject** values) noexcept {
    const size_t count = entry.slots.size();
    auto* replacement = reinterpret_cast<PyCodeObject*>(entry.payload.get());
    if (!fits_in_place(thread, frame, code, replacement)) [[unlikely]] {
        for (size_t i = 0; i < count; ++i) Owned<>::steal(values[i]).reset();
        return false;
    }
    const auto kept = Owned<PyCodeObject>::share(code);
    CPython::substitute(thread, frame, code, replacement);
    for (size_t i = 0; i < count; ++i)
        CPython::bind_local(frame, entry.slots[i], values[i]);
    return true;
}

/// Handles a hit with captured values. It counts as a miss if they cannot be bound.
[[gnu::noinline]] PyObject* hit_capturing(PyThreadState* thread, CPython::Frame* frame,
                                          PyCodeObject* code, CodeCache& cache,
                                          const Entry& entry,
                                          PyObject** values) noexcept {
    if (bind_in_place(thread, frame, code, entry, values)) [[likely]]
        note_hit(entry);
    else
        ++cache.counters.misses;
    return run_frame;
}

/// Runs a new entry of a callback. Its captured values come from a look-up of that
/// entry alone. If its guards fail, there are no values and the frame runs as written.
[[gnu::cold]] PyObject* run_new_capturing(PyThreadState* thread, CPython::Frame* frame,
                                          PyCodeObject* code, CodeCache& cache,
                                          const Shared<Entry>& entry,
                                          const View& view) {
    constexpr auto mode = Lookup::Mode::user_code;
    const Shared<Table> alone = Table().with(entry);
    Lookup lookup(*alone, view, GUARDTREE_ROOM(Lookup::room(*alone, view, mode)), mode);
    bool is_bound = false;
    if (lookup.find()) {
        PyObject** const values = GUARDTREE_ROOM(lookup.value_count());
        lookup.take(values);
        is_bound = bind_in_place(thread, frame, code, *entry, values);
    } else if (PyErr_Occurred()) {
        return abandon(thread, frame);
    }
    if (!is_bound) ++cache.counters.not_run;
    return run_frame;
}

/// The arguments of a callback. Its frame is open during the lifetime of this object.
struct CallbackArguments {
    CallbackArguments(const View& view, CodeCache& cache)
        : tuple(protocol.arguments(view, cache)) {}

    ~CallbackArguments() {
        if (tuple) protocol.close(tuple.get());
    }

    CallbackArguments(const CallbackArguments&) = delete;
    CallbackArguments& operator=(const CallbackArguments&) = delete;

    Owned<> tuple;
};

/// The result of the callback. Null with an exception set.
[[gnu::cold]] Owned<> call_callback(const View& view, CodeCache& cache) {
    const Owned<> callback = current_callback();
    const CallbackArguments arguments(view, cache);
    if (!arguments.tuple) return {};
    return Owned<>::steal(
        PyObject_Call(callback.get(), arguments.tuple.get(), nullptr));
}

[[gnu::cold]] MissOutcome ask_callback(const View& view, CodeCache& cache) {
    const HookPause pause;
    const Owned<> answer = call_callback(view, cache);
    if (!answer) return {MissOutcome::raise, {}};
    return protocol.interpret(answer.get(), view);
}

[[gnu::cold]] PyObject* raise_miss(PyThreadState* thread, CPython::Frame* frame,
                                   const CodeCache& cache, const View& view) {
    const HookPause pause;
    protocol.raise_miss(view, cache);
    return abandon(thread, frame);
}

[[gnu::cold, gnu::noinline]] PyObject* handle_miss(PyThreadState* thread,
                                                   CPython::Frame* frame,
                                                   PyCodeObject* code, CodeCache& cache,
                                                   const View& view) {
    ++use_clock;
    ++cache.counters.misses;
    if (!cache.table()->entries().empty()) ++cache.counters.failed_lookups;
    if (!allocating([&] { cache.look_for_dead_entries(); }))
        PyErr_Clear();  // dead entries only cost time
    if (protocol.note_miss && !cache.table()->entries().empty()) {
        const HookPause pause;
        protocol.note_miss(view);
    }
    const Policy policy = cache.policy();
    const bool raises = hook_thread.raises || policy.on_miss == OnMiss::raise;
    if (raises && !cache.table()->entries().empty())
        return raise_miss(thread, frame, cache, view);
    if (hook_thread.allowed() != Mode::compile || !protocol.arguments ||
        policy.on_miss == OnMiss::plain || cache.counters.misses <= policy.warm_up) {
        return run_frame;
    }
    if (cache.is_full()) {
        cache.limit_reached = true;
        return run_frame;
    }
    if (protocol.is_own) {
        bool is_own = false;
        if (!allocating([&] { is_own = protocol.is_own(view); }))
            return abandon(thread, frame);
        if (is_own) {
            cache.skipped = true;
            return run_frame;
        }
    }
    const MissOutcome outcome = ask_callback(view, cache);
    switch (outcome.action) {
    case MissOutcome::run_plain: return run_frame;
    case MissOutcome::raise: return abandon(thread, frame);
    case MissOutcome::skip_code: cache.skipped = true; return run_frame;
    case MissOutcome::run_entry: break;
    }
    if (!add_entry(code, cache, outcome.entry)) return abandon(thread, frame);
    if (outcome.entry->program.captured())
        return run_new_capturing(thread, frame, code, cache, outcome.entry, view);
    return run_entry(thread, frame, code, cache, *outcome.entry);
}

/// Called if user code may have run during the decision. Makes sure that a generator
/// belongs to the frame's code, even if the function has other code by now.
[[gnu::noinline]] PyObject* after_user_code(PyThreadState* thread,
                                            CPython::Frame* frame, PyObject* decided) {
    if (decided != run_frame || has_generator_function(frame)) [[likely]]
        return decided;
    return give_own_function(frame) ? decided : abandon(thread, frame);
}

CodeCache* find_cache(PyCodeObject* code) noexcept {
    return static_cast<CodeCache*>(CPython::code_extra(code, code_cache_index));
}

/// Handles a hit, when no part of the look-up can run user code any more.
template <class AnyLookup>
[[gnu::always_inline]] inline PyObject* run_hit(PyThreadState* thread,
                                                CPython::Frame* frame,
                                                PyCodeObject* code, CodeCache& cache,
                                                const Entry& entry, AnyLookup& lookup) {
    if (lookup.has_values()) [[unlikely]] {
        PyObject** const values = GUARDTREE_ROOM(lookup.value_count());
        lookup.take(values);
        return hit_capturing(thread, frame, code, cache, entry, values);
    }
    note_hit(entry);
    return run_entry(thread, frame, code, cache, entry);
}

/// A look-up that may run user code, is checked in strict mode, or needs many values.
[[gnu::noinline]] PyObject* decide_large(PyThreadState* thread, CPython::Frame* frame,
                                         PyCodeObject* code, CodeCache& cache) {
    constexpr auto mode = Lookup::Mode::user_code;
    PyObject* decided = nullptr;
    {
        const FrameView view(frame);  // releasing its dict may run user code, too
        const Table& table = *cache.table();
        Lookup lookup(table, view, GUARDTREE_ROOM(Lookup::room(table, view, mode)),
                      mode, thread);
        const Entry* entry = lookup.find();
        const bool is_refused = protocol.is_right_answer && !PyErr_Occurred() &&
                                !protocol.is_right_answer(view, table, entry);
        lookup.close();
        if (view.dicts_built()) ++cache.counters.dicts_built;
        if (is_refused || (!entry && PyErr_Occurred())) [[unlikely]]
            decided = abandon(thread, frame);
        else if (entry) [[likely]]
            decided = run_hit(thread, frame, code, cache, *entry, lookup);
        else
            decided = handle_miss(thread, frame, code, cache, view);
    }
    return after_user_code(thread, frame, decided);
}

/// A look-up that runs no user code. Handling a miss may run some.
[[gnu::noinline]] PyObject* decide_small(PyThreadState* thread, CPython::Frame* frame,
                                         PyCodeObject* code, CodeCache& cache) {
    PyObject* decided = nullptr;
    {
        const FrameView view(frame);
        PyObject* values[few_values];
        QuietLookup lookup(*cache.table(), view, values);
        if (const Entry* entry = lookup.find()) [[likely]]
            return run_hit(thread, frame, code, cache, *entry, lookup);
        decided = handle_miss(thread, frame, code, cache, view);
    }
    return after_user_code(thread, frame, decided);
}

/// Handles a miss without another look-up.
[[gnu::cold, gnu::noinline]] PyObject* decide_missed(PyThreadState* thread,
                                                     CPython::Frame* frame,
                                                     PyCodeObject* code,
                                                     CodeCache& cache) {
    PyObject* decided = nullptr;
    {
        const FrameView view(frame);
        decided = handle_miss(thread, frame, code, cache, view);
    }
    return after_user_code(thread, frame, decided);
}

/// Handles a code object that has no cache yet.
[[gnu::cold, gnu::noinline]] PyObject* decide_new(PyThreadState* thread,
                                                  CPython::Frame* frame,
                                                  PyCodeObject* code) {
    if (hook_thread.allowed() != Mode::compile) return run_frame;
    CodeCache* const cache = CodeCache::of(code);
    if (!cache) return abandon(thread, frame);
    if (protocol.is_right_answer) return decide_large(thread, frame, code, *cache);
    return decide_small(thread, frame, code, *cache);
}

/// Decides about a frame. `missed`: the table was looked up and no entry passed. It
/// ends in a tail call, so it has no stack frame of its own.
PyObject* decide(PyThreadState* thread, CPython::Frame* frame, PyCodeObject* code,
                 CodeCache* cache, bool missed) {
    if (hook_thread.passing == code) [[unlikely]] {
        hook_thread.passing = nullptr;
        hook_thread.update();
        return run_frame;
    }
    if (!CPython::at_start(frame, code) || CPython::is_tracing(thread))
        return run_frame;
    if (!cache) [[unlikely]]
        return decide_new(thread, frame, code);
    if (missed) return decide_missed(thread, frame, code, *cache);
    const Table& table = *cache->table();
    if (table.calls_python() || table.value_count() > few_values ||
        protocol.is_right_answer)
        return decide_large(thread, frame, code, *cache);
    return decide_small(thread, frame, code, *cache);
}

[[gnu::cold, gnu::noinline]] PyObject* raise_recursion(PyThreadState* thread,
                                                       CPython::Frame* frame) {
    PyErr_SetString(
        PyExc_RecursionError,
        "maximum recursion depth exceeded: under a frame evaluator each call "
        "takes C stack, and the thread's is used up");
    // Raised inside the frame, so that a generator's handlers run.
    return evaluate_below(thread, frame, 1);
}

[[gnu::noinline]] PyObject* evaluate_decided(PyThreadState* thread,
                                             CPython::Frame* frame, PyCodeObject* code,
                                             CodeCache* cache, bool missed) {
    PyObject* result = decide(thread, frame, code, cache, missed);
    if (result != run_frame) return result;
    return evaluate_below(thread, frame, 0);
}

/// A frame of a code object that is skipped, or that limits the mode of its callees.
[[gnu::noinline]] PyObject* evaluate_special(PyThreadState* thread,
                                             CPython::Frame* frame, CodeCache* cache) {
    if (!cache || cache->max_inside == Mode::compile)
        return evaluate_below(thread, frame, 0);
    const HookLimit limit(cache->max_inside);
    if (cache->skipped || hook_thread.allowed() == Mode::off)
        return evaluate_below(thread, frame, 0);
    return evaluate_decided(thread, frame, CPython::code(frame), cache, false);
}

/// A frame of a code object that is new, or whose table has only leaf programs.
[[gnu::noinline]] PyObject* evaluate_leaf(PyThreadState* thread, CPython::Frame* frame,
                                          PyCodeObject* code, CodeCache* cache) {
    bool missed = false;
    if (cache && !hook_thread.passing && !protocol.is_right_answer &&
        CPython::at_start(frame, code) && !CPython::is_tracing(thread)) [[likely]] {
        const Entry* entry = Lookup::in_slots(*cache->table(), CPython::slots(frame));
        missed = !entry;
        if (entry) [[likely]] {
            auto* replacement = reinterpret_cast<PyCodeObject*>(entry->payload.get());
            if (Py_REFCNT(code) > 1 && fits_in_place(thread, frame, code, replacement))
                [[likely]] {
                note_hit(*entry);
                CPython::substitute(thread, frame, code, replacement);
                return evaluate_below(thread, frame, 0);
            }
        }
    }
    return evaluate_decided(thread, frame, code, cache, missed);
}

/// The part of evaluate_frame for threads with a callback. It ends in a tail call, so
/// it has no stack frame of its own.
[[gnu::noinline]] PyObject* evaluate_hooked(PyThreadState* thread,
                                            CPython::Frame* frame) {
    PyCodeObject* code = CPython::code(frame);
    CodeCache* cache = find_cache(code);
    if (cache ? cache->is_special() : hook_thread.allowed() != Mode::compile)
        return evaluate_special(thread, frame, cache);
    if (!cache || cache->table()->is_leaf()) [[likely]]
        return evaluate_leaf(thread, frame, code, cache);
    return evaluate_decided(thread, frame, code, cache, false);
}

/// The slow path of evaluate_held, which has to identify the greenlet.
[[gnu::noinline]] PyObject* evaluate_settled(PyThreadState* thread,
                                             CPython::Frame* frame) {
    HookThread& hot = hook_thread;
    hot.settle(thread);
    if (hot.busy || hot.allowed() == Mode::off) return evaluate_below(thread, frame, 0);
    return evaluate_hooked(thread, frame);
}

/// For threads in which a pause, a limit or a pass is open in any greenlet.
[[gnu::noinline]] PyObject* evaluate_held(PyThreadState* thread, CPython::Frame* frame,
                                          int throwing) {
    if (hook_thread.is_known_paused(thread) || throwing) [[likely]]
        return evaluate_below(thread, frame, throwing);
    return evaluate_settled(thread, frame);
}

/// The rest of evaluate_frame, when there is enough stack.
inline PyObject* evaluate_with_stack(PyThreadState* thread, CPython::Frame* frame,
                                     int throwing) {
    if (hook_thread.active <= Mode::off || throwing) {
        // Read again, because keeping the value would cost looked-up frames a load.
        const volatile Mode& active = hook_thread.active;
        if (active == Mode::held) [[unlikely]]
            return evaluate_held(thread, frame, throwing);
        return evaluate_below(thread, frame, throwing);
    }
    return evaluate_hooked(thread, frame);
}

/// Called if the stack pointer is below the thread's floor: the stack is low, its floor
/// was not read yet, or a fiber runs on a stack of its own.
[[gnu::cold, gnu::noinline]] PyObject* evaluate_below_floor(PyThreadState* thread,
                                                            CPython::Frame* frame,
                                                            int throwing) {
    if (throwing || !is_stack_low(hook_thread.stack_floor))
        return evaluate_with_stack(thread, frame, throwing);
    return raise_recursion(thread, frame);
}

}  // namespace

PyObject* evaluate_frame(PyThreadState* thread, CPython::Frame* frame, int throwing) {
    if constexpr (!CPython::checks_c_stack) {
        if (is_below(hook_thread.stack_floor)) [[unlikely]]
            return evaluate_below_floor(thread, frame, throwing);
    }
    return evaluate_with_stack(thread, frame, throwing);
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

bool add_entry(PyCodeObject* code, CodeCache& cache, Shared<Entry> entry) {
    if (entry->payload.get() == as_object(code) && !entry->let_payload_go())
        return false;
    if (!allocating([&] { cache.add(std::move(entry)); })) return false;
    if (!protocol.note_entry) return true;
    const HookPause pause;
    protocol.note_entry(code, cache);
    return true;
}

}  // namespace guardtree
