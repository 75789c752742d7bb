// SlotsView: a view of slots that somebody else holds, an array of values by number;
// and HeldSlotsView, which holds them itself.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>

#include "view.h"

namespace guardtree {

/// Copies nothing and owns nothing. The array is what the caller has: all locals of a
/// call, or the arguments of one that gives each by position, which are its first
/// slots. Who gives fewer than co_nlocalsplus words may only ask for those: what reads
/// them all (f_locals) needs them all.
class SlotsView : public View {
public:
    SlotsView(const Scope& scope, PyObject* const* values) noexcept
        : View(reinterpret_cast<const SlotWord*>(values), scope.code) {
        scope_ = &scope;
        only_borrows_ = true;
    }

    SlotsView(const Scope&& scope, PyObject* const* values) = delete;
};

/// A copy of a view that only borrows its values: as they are now, held until it ends.
class HeldSlotsView : public View {
public:
    /// Words of the room for it; 0 of a view whose values are held anyway.
    static size_t room(const View& view) noexcept {
        if (!view.only_borrows()) return 0;
        return static_cast<size_t>(view.code().get()->co_nlocalsplus);
    }

    HeldSlotsView(const View& other, PyObject** room) noexcept
        : View(other, reinterpret_cast<const SlotWord*>(room)),
          room_(room),
          count_(HeldSlotsView::room(other)) {
        for (size_t i = 0; i < count_; ++i)
            room[i] = Owned<>::share(slot_object(other.slots()[i])).release();
    }

    ~HeldSlotsView() {
        for (size_t i = 0; i < count_; ++i) Owned<>::steal(room_[i]).reset();
    }

private:
    PyObject** room_;
    size_t count_;
};

/// What a call of `function` is guarded with.
inline Scope scope_of_call(PyFunctionObject* function) noexcept {
    return {reinterpret_cast<PyCodeObject*>(function->func_code),
            function->func_globals, function->func_builtins, function->func_closure,
            as_object(function)};
}

}  // namespace guardtree
