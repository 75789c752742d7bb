// The one file of the rooms that throws and catches.
// SPDX-License-Identifier: MIT
#include "no_memory.h"

#include <new>

namespace guardtree {

void throw_no_memory() {
    throw std::bad_alloc();
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
