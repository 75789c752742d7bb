// Reading the bounds of the calling thread's stack.
// SPDX-License-Identifier: MIT
#include "stack_floor.h"

#include <algorithm>
#include <cstddef>

#include <pthread.h>

namespace guardtree {

uintptr_t find_stack_floor() noexcept {
    constexpr size_t most = size_t{256} * 1024;
    void* low = nullptr;
    size_t size = 0;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &size);
        pthread_attr_destroy(&attributes);
    }
    // Unknown bounds: an address that no frame is under.
    if (!low) return 1;
    return reinterpret_cast<uintptr_t>(low) + std::min(most, size / 4);
}

}  // namespace guardtree
