// Which dict, and which part of it, a step or kind reads. Internal.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../concepts/kind.h"

#include "watched_dicts.h"

namespace guardtree {

/// The dict that a step or kind reads at `source`, as it says itself; null where it
/// reads none.
template <class T>
PyObject* dict_read(const T& op, const View& view, PyObject* source) noexcept {
    static_cast<void>(op), static_cast<void>(view), static_cast<void>(source);
    if constexpr (ReadsDictOfView<T>) {
        return T::dict_of(view);
    } else if constexpr (ReadsDictOfValue<T>) {
        return T::dict_of(source);
    } else {
        return source && PyDict_Check(source) ? source : nullptr;
    }
}

/// The key that an op reads; null of one that reads no single key.
template <class T>
PyObject* key_read(const T& op) noexcept {
    if constexpr (requires { op.key.value; }) {
        return op.key.value;
    } else if constexpr (requires { op.name.value; }) {
        return op.name.value;
    } else {
        static_cast<void>(op);
        return nullptr;
    }
}

inline DictPart part_of(Reads reads) noexcept {
    if (reads == Reads::keys) return DictPart::keys;
    return reads == Reads::entries ? DictPart::entries : DictPart::item;
}

}  // namespace guardtree
