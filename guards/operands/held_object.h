// C++ objects among the references of a tree, for operands that do not fit in an op.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <memory>

#include "../../framelocals/no_memory.h"

#include "operand.h"

namespace guardtree {

/// Moves `object` to `keep`, wrapped in a capsule. Null, with `problem` filled, if
/// there is no memory.
template <class T>
const T* keep_object(std::unique_ptr<T> object, References& keep, Diagnostic& problem) {
    const auto destroy = [](PyObject* capsule) {
        delete static_cast<T*>(PyCapsule_GetPointer(capsule, nullptr));
    };
    auto capsule = Owned<>::steal(PyCapsule_New(object.get(), nullptr, destroy));
    if (!capsule) {
        drop_exception();
        problem = {PyExc_MemoryError, "no memory for an operand"};
        return nullptr;
    }
    keep.push_back(std::move(capsule));
    return object.release();
}

}  // namespace guardtree
