// Memory that is aligned to cache lines.
// SPDX-License-Identifier: MIT
//
// For small objects that every look-up reads, so that they occupy as few cache lines as
// possible (bench `table/size/cyclic`: 0.8 ns at 64 entries). Allocations are
// over-sized and aligned here. glibc's memalign leaves gaps that it does not reuse, so
// a program that makes and drops entries would grow.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>

namespace guardtree {

inline constexpr size_t cache_line = 64;

/// Uninitialised memory. Free it with delete_cache_lines.
inline void* new_cache_lines(size_t bytes) {
    const auto whole =
        reinterpret_cast<uintptr_t>(::operator new(bytes + cache_line + sizeof(void*)));
    const uintptr_t begin =
        (whole + sizeof(void*) + cache_line - 1) & ~uintptr_t{cache_line - 1};
    auto* const memory = reinterpret_cast<void**>(begin);
    memory[-1] = reinterpret_cast<void*>(whole);
    return memory;
}

inline void delete_cache_lines(void* memory) noexcept {
    if (memory) ::operator delete(static_cast<void**>(memory)[-1]);
}

/// A base class for objects that are created with `new`.
struct alignas(cache_line) OnCacheLines {
    static void* operator new(size_t bytes) { return new_cache_lines(bytes); }

    static void* operator new(size_t bytes, std::align_val_t) {
        return new_cache_lines(bytes);
    }

    static void operator delete(void* memory) noexcept { delete_cache_lines(memory); }

    static void operator delete(void* memory, std::align_val_t) noexcept {
        delete_cache_lines(memory);
    }
};

template <class T>
struct CacheLineAllocator {
    using value_type = T;

    CacheLineAllocator() noexcept = default;

    template <class U>
    explicit(false) CacheLineAllocator(const CacheLineAllocator<U>&) noexcept {}

    T* allocate(size_t count) {
        return static_cast<T*>(new_cache_lines(count * sizeof(T)));
    }

    void deallocate(T* memory, size_t) noexcept { delete_cache_lines(memory); }

    template <class U>
    bool operator==(const CacheLineAllocator<U>&) const noexcept {
        return true;
    }
};

}  // namespace guardtree
