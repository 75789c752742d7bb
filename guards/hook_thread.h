// What the frame hook knows of its thread, and the pause that guards make in it. It
// lies below the hook, so that every look-up can pause it.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>

#include "hook_mode.h"

namespace guardtree {

/// The floor of a thread whose stack nobody has read: every frame seems to be below it.
inline constexpr uintptr_t unread_stack_floor = UINTPTR_MAX;

/// What the hook reads of its thread: plain data in static thread-local storage.
struct HookThread {
    Mode active = Mode::off;       ///< what holds for the next frame: off while busy
    Mode mode = Mode::off;         ///< what the callback says
    Mode most = Mode::compile;     ///< what the codes that are running allow
    bool raises = false;           ///< misses of codes that have entries raise
    bool is_changed = false;       ///< the others were, while busy
    int busy = 0;                  ///< depth of guards and callbacks that are running
    PyObject* callback = nullptr;  ///< borrowed from the thread's record
    PyCodeObject* passing = nullptr;  ///< the code whose next frame is left alone
    /// Frames below it raise RecursionError (3.11 to 3.13).
    uintptr_t stack_floor = unread_stack_floor;

    /// What the callback says, as far as the codes that are running allow.
    Mode allowed() const noexcept { return mode < most ? mode : most; }

    /// `active` as the other members have it.
    void update() noexcept {
        active = allowed();
        is_changed = busy != 0;
        if (busy) active = Mode::off;
        if (passing && active != Mode::off) active = Mode::passing;
    }
};

/// initial-exec costs one load instead of a call; 48 bytes fit the space that the
/// loader keeps for modules that are loaded late.
extern thread_local constinit HookThread hook_thread [[gnu::tls_model("initial-exec")]];

/// Off while guards and callbacks run: frames they enter run plain. set_callback inside
/// takes effect at the end of the outermost pause.
class HookPause {
public:
    HookPause() noexcept : before_(hook_thread.active) {
        ++hook_thread.busy;
        hook_thread.active = Mode::off;
    }

    ~HookPause() {
        --hook_thread.busy;
        hook_thread.active = before_;
        if (hook_thread.is_changed) [[unlikely]]
            hook_thread.update();
    }

    HookPause(const HookPause&) = delete;
    HookPause& operator=(const HookPause&) = delete;

private:
    Mode before_;
};

/// Allows no more than `most` while a code runs, and all that it calls.
class HookLimit {
public:
    explicit HookLimit(Mode most) noexcept : before_(hook_thread.most) {
        if (most < before_) hook_thread.most = most;
        hook_thread.update();
    }

    ~HookLimit() {
        hook_thread.most = before_;
        hook_thread.update();
    }

    HookLimit(const HookLimit&) = delete;
    HookLimit& operator=(const HookLimit&) = delete;

private:
    Mode before_;
};

}  // namespace guardtree
