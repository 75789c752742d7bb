// What compilers and processors have words of their own for: the one file to write for
// others than GCC and Clang on x86-64 and aarch64.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>

/// Room for so many pointers in the frame of the caller: it lives as long as that.
#define GUARDTREE_ROOM(words) \
    static_cast<PyObject**>(__builtin_alloca(sizeof(PyObject*) * (words)))

/// Of a thread_local of ours: one load instead of a call. What has it must fit into the
/// space that the loader keeps for modules that are loaded late.
#define GUARDTREE_NEAR_THREAD_LOCAL [[gnu::tls_model("initial-exec")]]

namespace guardtree {

/// The caller knows that control never comes here.
[[noreturn]] [[gnu::always_inline]] inline void unreachable() noexcept {
    __builtin_unreachable();
}

/// In a loop: it stays one, where GCC would make it a call of memset.
[[gnu::always_inline]] inline void keep_loop() noexcept {
    __asm__("");
}

/// A word that threads share, which is read and written whole, and orders nothing.
template <class T>
[[gnu::always_inline]] inline T load_relaxed(const T& from) noexcept {
    return __atomic_load_n(&from, __ATOMIC_RELAXED);
}

template <class T>
[[gnu::always_inline]] inline void store_relaxed(T& to, T value) noexcept {
    __atomic_store_n(&to, value, __ATOMIC_RELAXED);
}

/// True where the result does not fit; `to` has its low bits then.
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
