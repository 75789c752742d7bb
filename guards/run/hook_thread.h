// What the frame hook knows of its thread, and the pause that guards make in it. It
// lies below the hook, so that every look-up can pause it.
// SPDX-License-Identifier: MIT
//
// How it works. A pause, a limit and a pass are records: objects on the C stack of the
// code that makes them. Greenlets of one thread run by turns, so records of several
// greenlets may be open at once, and they end in any order. A HookThread holds what the
// records of one greenlet say, its owner; the others are parked (hook_thread.cpp).
// While any record is open, `active` is Mode::held, and who asks compares the owner
// with the greenlet that runs, which is known by its data stack (data_stack.h).
#pragma once
#include <Python.h>

#include <cstdint>

#include "../../framelocals/compiler.h"
#include "../../framelocals/views/data_stack.h"

#include "hook_mode.h"

namespace guardtree {

/// The floor of a thread whose stack nobody has read: every frame seems to be below it.
inline constexpr uintptr_t unread_stack_floor = UINTPTR_MAX;

/// What the hook reads of its thread: plain data in static thread-local storage.
struct HookThread {
    Mode active = Mode::off;     ///< what holds for the next frame: `mode`, or held
    Mode mode = Mode::off;       ///< what the callback says
    Mode most = Mode::compile;   ///< what the codes that are running allow
    bool raises = false;         ///< misses of codes that have entries raise
    bool is_changed = false;     ///< the others were, while busy
    int busy = 0;                ///< depth of guards and callbacks that are running
    int parked = 0;              ///< greenlets that have records and wait
    PyObject* callback = nullptr;  ///< borrowed from the thread's record
    PyCodeObject* passing = nullptr;  ///< the code whose next frame is left alone
    /// Frames below it raise RecursionError (3.11 to 3.13).
    uintptr_t stack_floor = unread_stack_floor;
    /// The greenlet that `most`, `busy` and `passing` are of: the chunk that the first
    /// of its records began in, which outlives them, or its first chunk of all. Without
    /// records it may be gone.
    const StackChunk* owner = nullptr;

    /// What the callback says, as far as the codes that are running allow.
    Mode allowed() const noexcept { return mode < most ? mode : most; }

    bool has_records() const noexcept {
        return busy != 0 || most != Mode::compile || passing;
    }

    /// `active` as the other members have it.
    void update() noexcept {
        active = has_records() || parked ? Mode::held : mode;
        is_changed = busy != 0;
    }

    /// Makes the greenlet that runs on `thread` the owner. A call where that is so
    /// already changes nothing. Needs the GIL.
    void settle(PyThreadState* thread) noexcept {
        const StackChunk* top = top_chunk(thread);
        if (!top || top != owner || top->previous) settle_in(thread);
    }

    /// Makes the greenlet that runs on `thread` the owner, for a record. The chunk that
    /// tells it; null where there is no memory for one.
    const StackChunk* begin_record(PyThreadState* thread) noexcept;

    /// Makes the greenlet of an open record the owner. Touches nothing of Python's.
    void settle(const StackChunk* owner_of_record) noexcept {
        if (owner != owner_of_record) [[unlikely]]
            change_owner(owner_of_record);
    }

    /// That guards or a callback run in the greenlet that runs on `thread`. False may
    /// also mean that it takes settle to tell. The owner of an open record lives, so
    /// its chunk is nobody else's.
    bool is_known_paused(const PyThreadState* thread) const noexcept {
        return busy != 0 && owner == top_chunk(thread);
    }

    /// Whether guards or a callback run in this greenlet. Needs the GIL.
    bool is_paused() noexcept { return active == Mode::held && is_settled_paused(); }

    /// Forgets all records: for the thread's end.
    void forget_records() noexcept;

private:
    void settle_in(PyThreadState* thread) noexcept;
    void change_owner(const StackChunk* owner_of_record) noexcept;
    bool is_settled_paused() noexcept;
};

extern thread_local constinit HookThread hook_thread GUARDTREE_NEAR_THREAD_LOCAL;

static_assert(sizeof(HookThread) == 48);

/// Something that holds for a greenlet while a scope of its C code is open. It finds
/// the thread's state of its own greenlet at its beginning and at its end.
class HookRecord {
public:
    HookRecord(const HookRecord&) = delete;
    HookRecord& operator=(const HookRecord&) = delete;

protected:
    /// `thread`: the one that runs.
    explicit HookRecord(PyThreadState* thread) noexcept {
        owner_ = top_chunk(thread);
        if (hook_thread.active == Mode::held || !owner_) [[unlikely]]
            owner_ = hook_thread.begin_record(thread);
        else
            hook_thread.owner = owner_;
    }

    ~HookRecord() = default;

    /// The thread's state, for the end of this record.
    HookThread& state() const noexcept {
        hook_thread.settle(owner_);
        return hook_thread;
    }

private:
    const StackChunk* owner_;
};

/// Off while guards and callbacks run: frames they enter run plain. set_callback inside
/// takes effect at the end of the outermost pause.
class HookPause : public HookRecord {
public:
    explicit HookPause(PyThreadState* thread = PyThreadState_Get()) noexcept
        : HookRecord(thread), busy_(hook_thread.busy), before_(hook_thread.active) {
        hook_thread.busy = busy_ + 1;
        hook_thread.active = Mode::held;
    }

    ~HookPause() {
        HookThread& hot = state();
        hot.busy = busy_;
        hot.active = before_;
        if (hot.is_changed) [[unlikely]]
            hot.update();
    }

private:
    int busy_;
    Mode before_;
};

/// Allows no more than `most` while a code runs, and all that it calls.
class HookLimit : public HookRecord {
public:
    explicit HookLimit(Mode most, PyThreadState* thread = PyThreadState_Get()) noexcept
        : HookRecord(thread), before_(hook_thread.most) {
        if (most < before_) hook_thread.most = most;
        hook_thread.update();
    }

    ~HookLimit() {
        HookThread& hot = state();
        hot.most = before_;
        hot.update();
    }

private:
    Mode before_;
};

/// Has the hook leave the next frame of `code` alone.
class HookPass : public HookRecord {
public:
    explicit HookPass(PyCodeObject* code,
                      PyThreadState* thread = PyThreadState_Get()) noexcept
        : HookRecord(thread), before_(hook_thread.passing) {
        hook_thread.passing = code;
        hook_thread.update();
    }

    ~HookPass() {
        HookThread& hot = state();
        hot.passing = before_;
        hot.update();
    }

private:
    PyCodeObject* before_;
};

}  // namespace guardtree
