// Handles failed allocations: std::bad_alloc, caught where C code calls guardtree.
// SPDX-License-Identifier: MIT
//
// The rooms are compiled without exceptions, so std::bad_alloc passes through their
// frames like the end of a thread: nothing is destroyed on the way. Call a room through
// `allocating` from a frame that has only C frames below it. The caller then undoes
// what those frames would have undone.
#pragma once
#include <Python.h>

#include <type_traits>

namespace guardtree {

/// Throws std::bad_alloc.
[[noreturn]] void throw_no_memory();

/// Drops the pending exception, if there is one. Throws std::bad_alloc for MemoryError.
/// For callers that report the failure in another way or continue.
void drop_exception();

/// The value of a name in a dict, borrowed. Null if it is not there. Throws if there is
/// no memory, which PyDict_GetItemString cannot tell from a missing name.
PyObject* item_by_name(PyObject* dict, const char* name);

namespace no_memory_detail {

bool call(void (*function)(void*), void* argument);

}  // namespace no_memory_detail

/// Calls `function`. False, with MemoryError set, if an allocation in it failed. Other
/// exceptions and the end of a thread pass through.
template <class Function>
bool allocating(Function&& function) {
    return no_memory_detail::call(
        [](void* given) {
            (*static_cast<std::remove_reference_t<Function>*>(given))();
        },
        &function);
}

}  // namespace guardtree
