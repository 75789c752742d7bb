// Counting allocations: C++ (operator new) and CPython's three domains.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <utility>

namespace guardtree::tests {

struct Allocations {
    size_t cpp = 0;
    size_t python = 0;

    size_t all() const noexcept { return cpp + python; }
};

void start_counting() noexcept;
Allocations stop_counting() noexcept;

/// What `body` allocates on this thread's time. Objects that CPython takes from its
/// free lists are no allocations, here as in CPython's own statistics.
template <class Body>
Allocations allocations_of(Body&& body) {
    start_counting();
    std::forward<Body>(body)();
    return stop_counting();
}

}  // namespace guardtree::tests
