// SlotsView: a view of an array of values that the caller holds. HeldSlotsView: a view
// that holds the values itself.
// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>

#include "view.h"

namespace guardtree {

/// Copies nothing and owns nothing. The array contains all locals of a call, or only
/// the arguments of a call with positional arguments, which are its first slots. If the
/// array has fewer than co_nlocalsplus words, only those may be read. Code that reads
/// all slots (f_locals) needs all of them.
class SlotsView : public View {
public:
    SlotsView(const Scope& scope, PyObject* const* values) noexcept
        : View(reinterpret_cast<const SlotWord*>(values), scope.code) {
        scope_ = &scope;
        only_borrows_ = true;
    }

    SlotsView(const Scope&& scope, PyObject* const* values) = delete;
};

/// A view that holds the values that it had when it was made until it is destroyed.
class HeldSlotsView : public View {
public:
    /// The number of words that `room` must have. 0 for a view that does not only
    /// borrow.
    static size_t room(const View& view) noexcept {
        if (!view.only_borrows()) return 0;
        return static_cast<size_t>(view.code().get()->co_nlocalsplus);
    }

    /// A copy of a view that only borrows its values.
    HeldSlotsView(const View& other, PyObject** room) noexcept
        : View(other, reinterpret_cast<const SlotWord*>(room)),
          room_(room),
          count_(HeldSlotsView::room(other)) {
        for (size_t i = 0; i < count_; ++i)
            room[i] = Owned<>::share(slot_object(other.slots()[i])).release();
    }

    /// A call with positional arguments, which are its first slots. `room` has
    /// co_nlocalsplus words, and begins with the arguments afterwards.
    HeldSlotsView(const Scope& scope, std::span<PyObject* const> arguments,
                  PyObject** room) noexcept
        : View(reinterpret_cast<const SlotWord*>(room), scope.code),
          room_(room),
          count_(arguments.size()) {
        scope_ = &scope;
        for (PyObject* each : arguments) *room++ = Owned<>::share(each).release();
        std::fill(room, room_ + scope.code->co_nlocalsplus, nullptr);
    }

    HeldSlotsView(const Scope&& scope, std::span<PyObject* const> arguments,
                  PyObject** room) = delete;

    ~HeldSlotsView() {
        for (size_t i = 0; i < count_; ++i) Owned<>::steal(room_[i]).reset();
    }

private:
    PyObject** room_;
    size_t count_;
};

/// The scope for guards on calls of `function`.
inline Scope scope_of_call(PyFunctionObject* function) noexcept {
    return {reinterpret_cast<PyCodeObject*>(function->func_code),
            function->func_globals, function->func_builtins, function->func_closure,
            as_object(function)};
}

}  // namespace guardtree
