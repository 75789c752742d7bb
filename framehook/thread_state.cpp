// The callbacks of threads, and the installation of the evaluator.
// SPDX-License-Identifier: MIT
//
// A record in the dict of the thread state owns a thread's callback. So it is released
// with the thread, however that ends (its end, fork, interpreter exit). The number of
// threads with a callback follows from states, not from calls: None -> callable and
// False -> None change it, callable -> False does not.
#include "../framelocals/cpython/cpython.h"

#include "thread_state.h"

#include <utility>

#include "hook.h"

namespace guardtree {

namespace {

constexpr const char* record_name = "guardtree.thread";

PyObject* raise_on_miss = nullptr;
int threads_with_callback = 0;
bool is_shut_down = false;

/// Another evaluator was installed above ours when ours should have been removed. It
/// saved ours as its previous one and may call it forever. So ours must not be
/// installed above it: they would call each other endlessly.
bool is_below_another = false;

/// The thread state whose record was last destroyed in this thread, because that state
/// is ending. If a finalizer set a callback now, nothing would remove it.
thread_local constinit uint64_t ended_thread = 0;

uint64_t current_state() noexcept {
    return PyThreadState_GetID(PyThreadState_Get());
}

/// The warning about another evaluator was issued. It is issued only once.
bool is_replacement_told = false;

struct ThreadRecord {
    Owned<> callback = Owned<>::share(Py_None);
    HookThread* hot = &hook_thread;
    unsigned long thread = PyThread_get_thread_ident();
    uint64_t state = current_state();
    ThreadRecord* next = nullptr;
};

ThreadRecord* records = nullptr;

/// For a record that a finalizer creates while its thread state is ending. The dict of
/// the thread state is not cleared a second time. This runs when the thread itself
/// ends, without the GIL, and makes the main thread remove the callback.
class EndOfThread {
public:
    EndOfThread() = default;
    EndOfThread(const EndOfThread&) = delete;
    EndOfThread& operator=(const EndOfThread&) = delete;

    ~EndOfThread() {
        if (!state || is_shut_down || !Py_IsInitialized()) return;
        Py_AddPendingCall(&end_late, reinterpret_cast<void*>(uintptr_t{state}));
    }

    uint64_t state = 0;  ///< of the record; 0 if it ended in time

private:
    static int end_late(void* state) noexcept;
};

thread_local EndOfThread end_of_thread;


Mode mode_of(PyObject* callback) noexcept {
    if (callback == Py_None) return Mode::off;
    const bool is_quiet = callback == Py_False || callback == raise_on_miss;
    return is_quiet ? Mode::lookup_only : Mode::compile;
}

void install() noexcept {
    PyInterpreterState* interpreter = PyInterpreterState_Main();
    const _PyFrameEvalFunction present =
        _PyInterpreterState_GetEvalFrameFunc(interpreter);
    if (is_shut_down) return;
    const bool is_known = present == evaluate_frame ||
                          present == _PyEval_EvalFrameDefault ||
                          present == previous_evaluator();
    if (is_below_another && !is_known) return;
    is_below_another = is_replacement_told = false;
    if (present == evaluate_frame) return;
    set_previous_evaluator(present == _PyEval_EvalFrameDefault ? nullptr : present);
    _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate_frame);
}

void uninstall() noexcept {
    PyInterpreterState* interpreter = PyInterpreterState_Main();
    if (_PyInterpreterState_GetEvalFrameFunc(interpreter) != evaluate_frame) {
        is_below_another = true;
        return;
    }
    is_below_another = false;
    const _PyFrameEvalFunction previous = previous_evaluator();
    _PyInterpreterState_SetEvalFrameFunc(
        interpreter, previous ? previous : _PyEval_EvalFrameDefault);
}

/// Warns if another evaluator has replaced ours. If a filter turns the warning into an
/// error, it is reported as unraisable, because the callback has changed already.
void warn_of_replacement() noexcept {
    if (is_shut_down || is_replacement_told || is_hook_installed()) return;
    is_replacement_told = true;
    const HookPause pause;
    const int raised = PyErr_WarnEx(
        PyExc_RuntimeWarning,
        "another frame evaluator was installed above guardtree's, which stays below "
        "it: guardtree sees the frames that the other one hands on, and none if it "
        "hands on none. Uninstall the other one first, or install it before "
        "set_eval_frame",
        1);
    if (raised < 0) PyErr_WriteUnraisable(nullptr);
}

void count(Mode before, Mode after) noexcept {
    const int change = (after != Mode::off) - (before != Mode::off);
    threads_with_callback += change;
    if (change > 0 && threads_with_callback == 1) install();
    if (change < 0 && threads_with_callback == 0) uninstall();
}

void end_record(PyObject* capsule) {
    auto* record =
        static_cast<ThreadRecord*>(PyCapsule_GetPointer(capsule, record_name));
    // Thread-local storage exists only while the thread runs.
    ThreadRecord** link = &records;
    while (*link != record) link = &(*link)->next;
    *link = record->next;
    if (record->thread == PyThread_get_thread_ident()) {
        end_of_thread.state = 0;
        ended_thread = record->state;
        const uintptr_t floor = record->hot->stack_floor;
        record->hot->forget_records();
        *record->hot = HookThread();
        record->hot->stack_floor = floor;
    }
    count(mode_of(record->callback.get()), Mode::off);
    delete record;
}

int EndOfThread::end_late(void* state) noexcept {
    for (ThreadRecord* record = records; record; record = record->next) {
        if (record->state != reinterpret_cast<uintptr_t>(state)) continue;
        const Owned<> callback =
            std::exchange(record->callback, Owned<>::share(Py_None));
        count(mode_of(callback.get()), Mode::off);
        break;
    }
    return 0;
}

/// This thread's record, created on first use. Null with an exception set.
ThreadRecord* thread_record() noexcept {
    if (current_state() == ended_thread) {
        PyErr_SetString(PyExc_RuntimeError,
                        "this thread is ending, so it cannot have a callback");
        return nullptr;
    }
    PyObject* const dict = PyThreadState_GetDict();
    if (!dict) {  // it drops the exception
        PyErr_NoMemory();
        return nullptr;
    }
    // Without memory for the name, we cannot know whether there is a record. The name
    // is kept, so that the callback of a thread with a record can always be changed.
    static PyObject* name = nullptr;
    if (!name) name = PyUnicode_FromString(record_name);
    if (!name) return nullptr;
    PyObject* found = PyDict_GetItemWithError(dict, name);
    if (found) {
        return static_cast<ThreadRecord*>(PyCapsule_GetPointer(found, record_name));
    }
    if (PyErr_Occurred()) return nullptr;
    auto* record = new (std::nothrow) ThreadRecord();
    if (!record) {
        PyErr_NoMemory();
        return nullptr;
    }
    const auto capsule = Owned<>::steal(PyCapsule_New(record, record_name, end_record));
    if (!capsule) {
        delete record;
        return nullptr;
    }
    record->next = std::exchange(records, record);
    end_of_thread.state = record->state;
    if (PyDict_SetItem(dict, name, capsule.get()) == 0) return record;
    record->thread = 0;  // the end of this record is not the end of the thread
    end_of_thread.state = 0;
    return nullptr;
}

}  // namespace

Owned<> set_callback(PyObject* callback) noexcept {
    if (mode_of(callback) == Mode::compile && !PyCallable_Check(callback)) {
        PyErr_Format(
            PyExc_TypeError,
            "expected None (off), False (run what is cached), RAISE_ON_MISS or "
            "a callable (frame, cache_entry, frame_state), found %R (%s)",
            callback, Py_TYPE(callback)->tp_name);
        return {};
    }
    const bool is_ended = current_state() == ended_thread;
    if (is_ended && callback == Py_None) return Owned<>::share(Py_None);
    ThreadRecord* record = thread_record();
    if (!record) return {};
    Owned<> prior = std::move(record->callback);
    record->callback = Owned<>::share(callback);
    HookThread& hot = hook_thread;
    hot.callback = callback;
    const Mode before = hot.mode;
    hot.mode = mode_of(callback);
    hot.raises = callback == raise_on_miss;
    hot.update();
    count(before, hot.mode);
    if (threads_with_callback > 0 || is_below_another) warn_of_replacement();
    return prior;
}

void set_raise_on_miss(PyObject* constant) noexcept {
    raise_on_miss = constant;
}

Owned<> current_callback() noexcept {
    return Owned<>::share(hook_thread.callback ? hook_thread.callback : Py_None);
}

bool is_hook_installed() noexcept {
    return _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Main()) ==
           evaluate_frame;
}

int hooked_threads() noexcept {
    return threads_with_callback;
}

void shut_down() noexcept {
    is_shut_down = true;
    // A callback refers to its module's globals, which would outlive the module.
    if (!set_callback(Py_None)) PyErr_Clear();
    uninstall();
    CodeCache::reset_all();
}

}  // namespace guardtree
