// The conditions under which user code of guards runs: the hook is paused, no exception
// is pending, arguments are held.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../../framelocals/compiler.h"
#include "../../framelocals/cpython/pending_exception.h"
#include "../../framelocals/exception.h"
#include "../../framelocals/views/slots_view.h"

#include "hook_thread.h"

namespace guardtree {

/// The scope in which user code of a look-up runs. The hook ignores its frames, and no
/// exception is pending. An exception that was pending before is pending again
/// afterwards, or becomes the context of a new one.
class UserCode {
public:
    /// `thread`: the current thread.
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

/// Holds the callable, arguments and keyword names of a call while user code may run.
/// The caller may not keep them alive: `functools.partial` passes borrowed arguments,
/// which its `__setstate__` replaces.
class HeldCall {
public:
    /// The number of words that `room` must have.
    static size_t room(size_t count, PyObject* names) noexcept {
        return 1 + values(count, names);
    }

    HeldCall(PyObject* callable, PyObject* const* arguments, size_t count,
             PyObject* names, PyObject** room) noexcept;
    ~HeldCall();

    HeldCall(const HeldCall&) = delete;
    HeldCall& operator=(const HeldCall&) = delete;

    PyObject* const* arguments() const noexcept { return room_ + 1; }

    /// PEP 590: the word before the arguments may be overwritten.
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

/// Calls `body(view)` for one program whose guards may run user code, under the same
/// conditions as a look-up: the arguments are held. The caller keeps the program alive.
template <class Body>
auto with_user_code(const View& view, Body body) {
    const UserCode user_code;
    const size_t words = HeldSlotsView::room(view);
    if (!words) return body(view);
    const HeldSlotsView held(view, GUARDTREE_ROOM(words));
    return body(static_cast<const View&>(held));
}

}  // namespace guardtree
