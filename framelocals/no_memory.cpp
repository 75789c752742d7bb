// The only file of these rooms that throws and catches C++ exceptions.
// SPDX-License-Identifier: MIT
#include "no_memory.h"

#include <new>

#include "ref.h"

namespace guardtree {

void throw_no_memory() {
    throw std::bad_alloc();
}

void drop_exception() {
    if (!PyErr_Occurred()) return;
    const bool is_memory = PyErr_ExceptionMatches(PyExc_MemoryError);
    PyErr_Clear();
    if (is_memory) throw_no_memory();
}

PyObject* item_by_name(PyObject* dict, const char* name) {
    const auto key = Owned<>::steal(PyUnicode_FromString(name));
    PyObject* found = key ? PyDict_GetItemWithError(dict, key.get()) : nullptr;
    if (!found) drop_exception();
    return found;
}

bool no_memory_detail::call(void (*function)(void*), void* argument) {
    try {
        function(argument);
        return true;
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
        return false;
    }
}

}  // namespace guardtree
