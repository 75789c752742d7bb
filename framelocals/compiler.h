// Code that is specific to compilers and processors. This is the only file to change
// for compilers other than GCC and Clang, or processors other than x86-64 and aarch64.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>

/// Memory for `words` pointers in the stack frame of the caller, with the lifetime of
/// that frame.
#define GUARDTREE_ROOM(words) \
    static_cast<PyObject**>(__builtin_alloca(sizeof(PyObject*) * (words)))

/// For a thread_local: access by one load instead of a call. The variables with it must
/// fit into the space that the loader reserves for modules that are loaded late.
#define GUARDTREE_NEAR_THREAD_LOCAL [[gnu::tls_model("initial-exec")]]

namespace guardtree {

/// Tells the compiler that this point is never reached.
[[noreturn]] [[gnu::always_inline]] inline void unreachable() noexcept {
    __builtin_unreachable();
}

/// Keeps a loop a loop, because GCC would replace it by a call of memset.
[[gnu::always_inline]] inline void keep_loop() noexcept {
    __asm__("");
}

/// Access to a word that threads share. It is read and written as a whole, without
/// memory ordering.
template <class T>
[[gnu::always_inline]] inline T load_relaxed(const T& from) noexcept {
    return __atomic_load_n(&from, __ATOMIC_RELAXED);
}

template <class T>
[[gnu::always_inline]] inline void store_relaxed(T& to, T value) noexcept {
    __atomic_store_n(&to, value, __ATOMIC_RELAXED);
}

/// True if the result does not fit; `to` then has its low bits.
inline bool add_overflows(int64_t a, int64_t b, int64_t& to) noexcept {
    return __builtin_add_overflow(a, b, &to);
}

inline bool subtract_overflows(int64_t a, int64_t b, int64_t& to) noexcept {
    return __builtin_sub_overflow(a, b, &to);
}

inline bool multiply_overflows(int64_t a, int64_t b, int64_t& to) noexcept {
    return __builtin_mul_overflow(a, b, &to);
}

/// The caller's stack pointer.
[[gnu::always_inline]] inline uintptr_t stack_pointer() noexcept {
    uintptr_t here = 0;  // __builtin_frame_address would cost the caller a stack frame
#if defined(__x86_64__)
    __asm__("mov %%rsp, %0" : "=r"(here));
#elif defined(__aarch64__)
    __asm__("mov %0, sp" : "=r"(here));
#else
    here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
#endif
    return here;
}

}  // namespace guardtree
