// Follows the steps of a path, with one call per step.
// SPDX-License-Identifier: MIT
#include "fetch.h"

#include "../../framelocals/compiler.h"

#include <algorithm>

namespace guardtree {
namespace {

template <class T>
constexpr bool lends_child = [] {
    if constexpr (GuardStep<T>)
        return Peeks<T> || (!T::info.calls_python && !returns_owned<T>);
    else
        return false;
}();

template <class T>
constexpr bool makes_child = [] {
    if constexpr (GuardStep<T>)
        return !lends_child<T> && !T::info.calls_python;
    else
        return false;
}();

/// The child that a step makes; null if there is none.
template <class T>
Owned<> make(const Op& op, const View& view, PyObject* from) noexcept {
    if constexpr (!makes_child<T>)
        unreachable();
    else if constexpr (RootStep<T>)
        return op.as<T>().get(view);
    else
        return from ? op.as<T>().get(from) : Owned<>();
}

Owned<> make_child(const Op& op, const View& view, PyObject* from) noexcept {
    switch (op.code()) {
#define X(type, stem) \
    case OpCode::type: return make<type>(op, view, from);
        GUARDTREE_STEPS(X)
#undef X
    default: unreachable();
    }
}

bool makes_child_of(const Op& step) noexcept {
    return dispatch(step, []<class T>(const T&) { return makes_child<T>; });
}

template <GuardStep T>
PyObject* follow(const Op& op, const View& view, PyObject* from) noexcept {
    const T& step = op.as<T>();
    if constexpr (RememberingRoot<T>) {
        return step.get(view, Remembered(op.place)).get();
    } else if constexpr (RootStep<T>) {
        return step.get(view).get();
    } else if constexpr (Peeks<T>) {
        return from ? step.peek(from, Remembered(op.place)).get() : nullptr;
    } else if constexpr (RememberingStep<T>) {
        return from ? step.get(from, Remembered(op.place)).get() : nullptr;
    } else {
        return from ? step.get(from).get() : nullptr;
    }
}

/// False for kinds that may run user code, which are not run here. Kinds with inner
/// kinds are: the caller knows that these run none (calls_python).
template <class T>
bool passes(const void* operands, PyObject* value) noexcept {
    if constexpr (GuardKind<T>) {
        const T& kind = *static_cast<const T*>(operands);
        if constexpr (!T::info.calls_python) return kind.check(value);
        if constexpr (HasInnerKinds<T>) return kind.check(value) == Verdict::pass;
    }
    static_cast<void>(operands), static_cast<void>(value);
    return false;
}

}  // namespace

PyObject* follow_step(const Op& step, const View& view, PyObject* from) noexcept {
    switch (step.code()) {
#define X(type, stem)                                                           \
    case OpCode::type:                                                          \
        if constexpr (lends_child<type>) return follow<type>(step, view, from); \
        break;
        GUARDTREE_STEPS(X)
#undef X
    default: break;
    }
    unreachable();
}

StepFetch fetch_of_step(OpCode code) noexcept {
    switch (code) {
#define X(type, stem)                                          \
    case OpCode::type:                                         \
        if constexpr (lends_child<type>) return &follow<type>; \
        break;
        GUARDTREE_STEPS(X)
#undef X
    default: break;
    }
    unreachable();
}

KindCheck check_of_kind(OpCode code) noexcept {
    switch (code) {
#define X(type, stem) \
    case OpCode::type: return &passes<type>;
        GUARDTREE_KINDS(X)
#undef X
    default: unreachable();
    }
}

bool peeks(const Op& step) noexcept {
    return dispatch(step, []<class T>(const T&) { return Peeks<T>; });
}

bool is_plain_step(const Op& step) noexcept {
    return dispatch(step, []<class T>(const T&) { return lends_child<T>; });
}

bool same_path(const ValuePath& a, const ValuePath& b) noexcept {
    return a.slot == b.slot && std::ranges::equal(a.steps, b.steps, same_op);
}

bool makes_value(const ValuePath& path) noexcept {
    return std::ranges::any_of(path.steps, makes_child_of);
}

bool can_be_fetched(const ValuePath& path) noexcept {
    const auto is_known = [](const Op& step) {
        return is_plain_step(step) || makes_child_of(step);
    };
    return std::ranges::all_of(path.steps, is_known) &&
           std::ranges::count_if(path.steps, makes_child_of) <= 1;
}

PyObject* fetch(const ValuePath& path, const View& view, Owned<>& made) noexcept {
    PyObject* value = path.slot >= 0 ? slot_object(view.slots()[path.slot]) : nullptr;
    for (const Op& step : path.steps) {
        if (makes_child_of(step)) {
            made = make_child(step, view, value);
            value = made.get();
        } else {
            value = follow_step(step, view, value);
        }
    }
    return value;
}

PyObject* fetch(const ValuePath& path, const View& view) noexcept {
    PyObject* value = path.slot >= 0 ? slot_object(view.slots()[path.slot]) : nullptr;
    for (const Op& step : path.steps) value = follow_step(step, view, value);
    return value;
}

}  // namespace guardtree
