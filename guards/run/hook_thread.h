// The state that the frame hook keeps per thread, and the pause that guards make in it.
// It is below the hook so that every look-up can pause the hook.
// SPDX-License-Identifier: MIT
//
// How it works. A pause, a limit and a pass are records: objects on the C stack of the
// code that creates them. The greenlets of a thread take turns, so records of several
// greenlets may be open at once, and they end in any order. A HookThread holds the
// records of one greenlet, its owner. Those of other greenlets are parked
// (hook_thread.cpp). While any record is open, `active` is Mode::held. The hook then
// compares the owner with the running greenlet, which it identifies by its data stack
// (data_stack.h).
#pragma once
#include <Python.h>

#include <cstdint>

#include "../../framelocals/compiler.h"
#include "../../framelocals/views/data_stack.h"

#include "hook_mode.h"

namespace guardtree {

/// The floor of a thread whose stack limit has not been read yet: every frame seems to
/// be below it.
inline constexpr uintptr_t unread_stack_floor = UINTPTR_MAX;

/// The state that the hook reads for each frame: plain data in static thread-local
/// storage.
struct HookThread {
    Mode active = Mode::off;       ///< the mode for the next frame: `mode`, or held
    Mode mode = Mode::off;         ///< the mode that the callback sets
    Mode most = Mode::compile;     ///< the limit that the running code objects set
    bool raises = false;           ///< a miss of a code object that has entries raises
    bool is_changed = false;       ///< a member changed while busy
    int busy = 0;                  ///< nesting depth of running guards and callbacks
    int parked = 0;                ///< number of waiting greenlets that have records
    PyObject* callback = nullptr;  ///< borrowed from the thread's own record of it
    /// the code object whose next frame the hook ignores
    PyCodeObject* passing = nullptr;
    /// A frame whose C stack is below this address raises RecursionError (3.11 to
    /// 3.13).
    uintptr_t stack_floor = unread_stack_floor;
    /// The greenlet that `most`, `busy` and `passing` belong to. It is identified by
    /// the chunk in which its first record began, which outlives the records, or by its
    /// first chunk of all. Without records the chunk may have been freed.
    const StackChunk* owner = nullptr;

    /// The mode that the callback sets, limited by the running code objects.
    Mode allowed() const noexcept { return mode < most ? mode : most; }

    bool has_records() const noexcept {
        return busy != 0 || most != Mode::compile || passing;
    }

    /// Computes `active` from the other members.
    void update() noexcept {
        active = has_records() || parked ? Mode::held : mode;
        is_changed = busy != 0;
    }

    /// Makes the greenlet that runs on `thread` the owner. Does nothing if it is the
    /// owner already. Needs the GIL.
    void settle(PyThreadState* thread) noexcept {
        const StackChunk* top = top_chunk(thread);
        if (!top || top != owner || top->previous) settle_in(thread);
    }

    /// Makes the greenlet that runs on `thread` the owner, for a new record. Returns
    /// the chunk that identifies it, or null if there is no memory for a chunk.
    const StackChunk* begin_record(PyThreadState* thread) noexcept;

    /// Makes the greenlet of an open record the owner. Does not use the Python API.
    void settle(const StackChunk* owner_of_record) noexcept {
        if (owner != owner_of_record) [[unlikely]]
            change_owner(owner_of_record);
    }

    /// Whether guards or a callback are known to run in the greenlet that runs on
    /// `thread`. False may also mean that settle has to find out. The owner of an open
    /// record is alive, so its chunk belongs to no other greenlet.
    bool is_known_paused(const PyThreadState* thread) const noexcept {
        return busy != 0 && owner == top_chunk(thread);
    }

    /// Whether guards or a callback run in this greenlet. Needs the GIL.
    bool is_paused() noexcept { return active == Mode::held && is_settled_paused(); }

    /// Removes all records, when the thread ends.
    void forget_records() noexcept;

private:
    void settle_in(PyThreadState* thread) noexcept;
    void change_owner(const StackChunk* owner_of_record) noexcept;
    bool is_settled_paused() noexcept;
};

extern thread_local constinit HookThread hook_thread GUARDTREE_NEAR_THREAD_LOCAL;

static_assert(sizeof(HookThread) == 48);

/// A setting for one greenlet that lasts as long as a scope of its C code. Its
/// constructor and destructor find the state of the greenlet that runs them.
class HookRecord {
public:
    HookRecord(const HookRecord&) = delete;
    HookRecord& operator=(const HookRecord&) = delete;

protected:
    /// `thread`: the current thread.
    explicit HookRecord(PyThreadState* thread) noexcept {
        owner_ = top_chunk(thread);
        if (hook_thread.active == Mode::held || !owner_) [[unlikely]]
            owner_ = hook_thread.begin_record(thread);
        else
            hook_thread.owner = owner_;
    }

    ~HookRecord() = default;

    /// The thread's state, for the destructor of this record.
    HookThread& state() const noexcept {
        hook_thread.settle(owner_);
        return hook_thread;
    }

private:
    const StackChunk* owner_;
};

/// Turns the hook off while guards and callbacks run: it ignores the frames that they
/// enter. A set_callback inside takes effect at the end of the outermost pause.
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

/// Limits the mode to `most` while a code object runs, and everything that it calls.
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

/// Makes the hook ignore the next frame of `code`.
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
