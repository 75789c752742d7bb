// What user code of guards runs under: the hook's pause, the pending exception, the
// arguments.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../../framelocals/compiler.h"
#include "../../framelocals/cpython/pending_exception.h"
#include "../../framelocals/exception.h"
#include "../../framelocals/views/slots_view.h"

#include "hook_thread.h"

namespace guardtree {

/// What user code of a look-up runs under: the hook leaves its frames alone, and no
/// exception is pending. One that was is pending again afterwards, or is the context
/// of the one that came of it.
class UserCode {
public:
    /// `thread`: the one that runs.
    explicit UserCode(PyThreadState* thread = PyThreadState_Get()) noexcept
        : pause_(thread) {
        if (has_exception(thread)) [[unlikely]]
            before_ = take_exception();
    }

    ~UserCode() {
        if (before_) [[unlikely]]
            put_back();
    }

    UserCode(const UserCode&) = delete;
    UserCode& operator=(const UserCode&) = delete;

private:
    [[gnu::cold]] void put_back() noexcept;

    const HookPause pause_;
    Owned<> before_;
};

/// A call that is held while user code may run: its callable, arguments and keyword
/// names. Who calls need not keep them (`functools.partial` lends what its
/// `__setstate__` replaces).
class HeldCall {
public:
    /// Words of the room for it.
    static size_t room(size_t count, PyObject* names) noexcept {
        return 1 + values(count, names);
    }

    HeldCall(PyObject* callable, PyObject* const* arguments, size_t count,
             PyObject* names, PyObject** room) noexcept;
    ~HeldCall();

    HeldCall(const HeldCall&) = delete;
    HeldCall& operator=(const HeldCall&) = delete;

    PyObject* const* arguments() const noexcept { return room_ + 1; }

    /// PEP 590's: the word in front of the arguments may be used.
    size_t count() const noexcept { return count_ | PY_VECTORCALL_ARGUMENTS_OFFSET; }

    PyObject* names() const noexcept { return names_.get(); }

private:
    static size_t values(size_t count, PyObject* names) noexcept {
        const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
        return static_cast<size_t>(PyVectorcall_NARGS(count) + named);
    }

    PyObject** room_;
    size_t count_;
    Owned<> callable_;
    Owned<> names_;
};

/// Calls `body(view)` for one program whose guards may run user code, as a look-up
/// would: with the arguments held. The caller keeps the program.
template <class Body>
auto with_user_code(const View& view, Body body) {
    const UserCode user_code;
    const size_t words = HeldSlotsView::room(view);
    if (!words) return body(view);
    const HeldSlotsView held(view, GUARDTREE_ROOM(words));
    return body(static_cast<const View&>(held));
}

}  // namespace guardtree
