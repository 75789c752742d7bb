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
        return !T::info.calls_python && !returns_owned<T>;
    else
        return false;
}();

template <GuardStep T>
PyObject* follow(const Op& op, const View& view, PyObject* from) noexcept {
    const T& step = op.as<T>();
    if constexpr (RememberingRoot<T>) {
        return step.get(view, Remembered(op.place)).get();
    } else if constexpr (RootStep<T>) {
        return step.get(view).get();
    } else if constexpr (RememberingStep<T>) {
        return from ? step.get(from, Remembered(op.place)).get() : nullptr;
    } else {
        return from ? step.get(from).get() : nullptr;
    }
}

/// False for kinds that may run user code, which are not run here.
template <class T>
bool passes(const void* operands, PyObject* value) noexcept {
    if constexpr (GuardKind<T>) {
        if constexpr (!T::info.calls_python)
            return static_cast<const T*>(operands)->check(value);
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

KindCheck check_of_kind(OpCode code) noexcept {
    switch (code) {
#define X(type, stem) \
    case OpCode::type: return &passes<type>;
        GUARDTREE_KINDS(X)
#undef X
    default: unreachable();
    }
}

bool is_plain_step(const Op& step) noexcept {
    switch (step.code()) {
#define X(type, stem) \
    case OpCode::type: return lends_child<type>;
        GUARDTREE_STEPS(X)
#undef X
    default: return false;
    }
}

bool same_path(const ValuePath& a, const ValuePath& b) noexcept {
    return a.slot == b.slot && std::ranges::equal(a.steps, b.steps, same_op);
}

PyObject* fetch(const ValuePath& path, const View& view) noexcept {
    PyObject* value = path.slot >= 0 ? slot_object(view.slots()[path.slot]) : nullptr;
    for (const Op& step : path.steps) value = follow_step(step, view, value);
    return value;
}

}  // namespace guardtree
