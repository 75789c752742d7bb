// Guarded functions by address: where a call finds its entries.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstddef>
#include <cstdint>

namespace guardtree {

class GuardedFunction;

namespace registry_detail {

/// Addresses of functions differ in the bits above these.
inline constexpr unsigned alignment_bits = 4;

struct Place {
    const PyFunctionObject* function;
    GuardedFunction* guarded;
};

inline constexpr size_t place_count = 64;

/// In front of the map, which takes about 2 ns more (bench/guarded_calls.py). Changes
/// of the map empty them all.
[[gnu::visibility("hidden")]] extern Place last_found[place_count];

GuardedFunction* find_in_map(const PyFunctionObject* function) noexcept;

}  // namespace registry_detail

/// What was put for the function at this address, which may be another than the one
/// that lies there now; or null. Needs the GIL, as all here.
[[gnu::always_inline]] inline GuardedFunction* find_guarded(
    const PyFunctionObject* function) noexcept {
    using namespace registry_detail;
    const auto address = reinterpret_cast<uintptr_t>(function);
    const Place& place = last_found[(address >> alignment_bits) % place_count];
    if (place.function == function) [[likely]]
        return place.guarded;
    return find_in_map(function);
}

/// In place of what was there. std::bad_alloc where there is no memory.
void put_guarded(const PyFunctionObject* function, GuardedFunction* guarded);

/// Nothing where another one is there.
void remove_guarded(const PyFunctionObject* function,
                    const GuardedFunction* guarded) noexcept;

void remove_all_guarded() noexcept;

}  // namespace guardtree
