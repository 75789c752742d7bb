// SlotsView: a view of slots that somebody else holds, an array of values by number.
// SPDX-License-Identifier: MIT
#pragma once
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
    }

    SlotsView(const Scope&& scope, PyObject* const* values) = delete;
};

/// What a call of `function` is guarded with.
inline Scope scope_of_call(PyFunctionObject* function) noexcept {
    return {reinterpret_cast<PyCodeObject*>(function->func_code),
            function->func_globals, function->func_builtins, function->func_closure,
            as_object(function)};
}

}  // namespace guardtree
