// What becomes of an allocation that fails: std::bad_alloc, caught where C calls us.
// SPDX-License-Identifier: MIT
//
// The rooms are compiled without exceptions, so std::bad_alloc passes through their
// frames as the end of a thread does: nothing is destroyed on the way. Whoever calls a
// room from a frame below which only C is calls it through `allocating`, and does by
// itself what those frames would have undone.
#pragma once
#include <Python.h>

#include <type_traits>

namespace guardtree {

/// Throws std::bad_alloc.
[[noreturn]] void throw_no_memory();

/// Drops the pending exception, if there is one; MemoryError becomes std::bad_alloc.
/// For who says something else of what failed, or goes on without it.
void drop_exception();

/// What a dict holds for a name, borrowed; null where it is not there. Throws without
/// memory, which PyDict_GetItemString takes for a name that is not there.
PyObject* item_by_name(PyObject* dict, const char* name);

namespace no_memory_detail {

bool call(void (*function)(void*), void* argument);

}  // namespace no_memory_detail

/// Calls `function`. False with MemoryError set when an allocation in it failed. Other
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
