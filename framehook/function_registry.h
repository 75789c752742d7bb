// Guarded functions by address: a call finds its entries here.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstddef>
#include <cstdint>

namespace guardtree {

class GuardedFunction;

namespace registry_detail {

/// The addresses of functions differ only in the bits above these.
inline constexpr unsigned alignment_bits = 4;

struct Place {
    const PyFunctionObject* function;
    GuardedFunction* guarded;
};

inline constexpr size_t place_count = 64;

/// A cache in front of the map, which takes about 2 ns more (bench/guarded_calls.py).
/// Every change of the map clears it.
[[gnu::visibility("hidden")]] extern Place last_found[place_count];

GuardedFunction* find_in_map(const PyFunctionObject* function) noexcept;

}  // namespace registry_detail

/// Returns the entry for this address, or null. It may belong to an earlier function at
/// the same address. Needs the GIL, like all functions here.
[[gnu::always_inline]] inline GuardedFunction* find_guarded(
    const PyFunctionObject* function) noexcept {
    using namespace registry_detail;
    const auto address = reinterpret_cast<uintptr_t>(function);
    const Place& place = last_found[(address >> alignment_bits) % place_count];
    if (place.function == function) [[likely]]
        return place.guarded;
    return find_in_map(function);
}

/// Replaces an existing entry. Throws std::bad_alloc if there is no memory.
void put_guarded(const PyFunctionObject* function, GuardedFunction* guarded);

/// Does nothing if the entry belongs to another object.
void remove_guarded(const PyFunctionObject* function,
                    const GuardedFunction* guarded) noexcept;

void remove_all_guarded() noexcept;

}  // namespace guardtree
