// The floor of a thread's C stack: below where code runs, and inside the stack.
// SPDX-License-Identifier: MIT
#include "../../framehook/stack_floor.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

namespace guardtree::tests {
namespace {

/// Runs `body` in a thread with this much stack.
void run_with_stack(size_t size, std::function<void()> body) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, size), 0);
    pthread_t thread;
    const auto entry = [](void* argument) -> void* {
        (*static_cast<std::function<void()>*>(argument))();
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, entry, &body), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

[[gnu::noinline]] size_t depth_until_low(uintptr_t& floor, size_t so_far) {
    volatile char block[4096];
    block[0] = 1;
    if (is_stack_low(floor)) return so_far;
    const size_t depth = depth_until_low(floor, so_far + sizeof block);
    return depth + static_cast<size_t>(block[0] - 1);  // keeps the frame: no tail call
}

TEST(StackFloor, is_below_running_code_and_is_read_once) {
    uintptr_t floor = unread_stack_floor;
    EXPECT_FALSE(is_stack_low(floor));
    EXPECT_EQ(floor, find_stack_floor());
    const char here = 0;
    EXPECT_LT(floor, reinterpret_cast<uintptr_t>(&here));
    EXPECT_FALSE(is_below(floor));
    EXPECT_TRUE(is_below(unread_stack_floor));
}

TEST(StackFloor, each_thread_has_its_own) {
    const uintptr_t main_floor = find_stack_floor();
    uintptr_t other = 0;
    run_with_stack(size_t{2} << 20, [&] { other = find_stack_floor(); });
    EXPECT_NE(other, main_floor);
}

TEST(StackFloor, is_reached_before_the_stack_ends) {
    size_t depth = 0;
    run_with_stack(size_t{2} << 20, [&] {
        uintptr_t floor = unread_stack_floor;
        depth = depth_until_low(floor, 0);
    });
    // 2 MiB less the margin of 256 KiB, and what the thread itself takes.
    EXPECT_GT(depth, size_t{1} << 20);
    EXPECT_LT(depth, (size_t{2} << 20) - (size_t{256} << 10));
}

TEST(StackFloor, a_tiny_stack_has_none) {
    bool is_low = true;
    run_with_stack(size_t{256} << 10, [&] {
        uintptr_t floor = unread_stack_floor;
        is_low = is_stack_low(floor);
    });
    EXPECT_FALSE(is_low);
}

/// A stack of its own with a protected page below, as fiber libraries make them.
class Fiber {
public:
    explicit Fiber(size_t size)
        : size_(size),
          low_(static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        mprotect(low_, 4096, PROT_NONE);
    }

    ~Fiber() { munmap(low_, size_); }

    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    void run(std::function<void()> body) {
        static std::function<void()>* next;
        next = &body;
        ucontext_t outer;
        ucontext_t inner;
        getcontext(&inner);
        inner.uc_stack.ss_sp = low_;
        inner.uc_stack.ss_size = size_;
        inner.uc_link = &outer;
        makecontext(&inner, [] { (*next)(); }, 0);
        swapcontext(&outer, &inner);
    }

private:
    size_t size_;
    char* low_;
};

TEST(StackFloor, of_a_thread_says_nothing_of_a_fiber) {
    uintptr_t floor = unread_stack_floor;
    ASSERT_FALSE(is_stack_low(floor));
    const uintptr_t own = floor;
    std::vector<std::unique_ptr<Fiber>> fibers;
    for (int i = 0; i < 60; ++i)
        fibers.push_back(std::make_unique<Fiber>(size_t{64} << 10));
    for (int i = 0; i < 420; i += 7) {
        bool is_low = true;
        Fiber& fiber = *fibers[static_cast<size_t>(i % 60)];
        fiber.run([&] { is_low = is_stack_low(floor); });
        ASSERT_FALSE(is_low) << i;
    }
    EXPECT_EQ(floor, own);
    EXPECT_FALSE(is_stack_low(floor));
}

TEST(StackFloor, of_a_fiber_is_reached_before_its_stack_ends) {
    for (const size_t size : {size_t{64} << 10, size_t{1} << 20}) {
        uintptr_t floor = unread_stack_floor;
        size_t depth = 0;
        Fiber(size).run([&] { depth = depth_until_low(floor, 0); });
        EXPECT_GT(depth, size / 2);
        EXPECT_LT(depth, size - (size_t{12} << 10));
    }
}

TEST(StackFloor, of_a_fiber_is_read_again_where_its_memory_serves_another) {
    uintptr_t floor = unread_stack_floor;
    for (int i = 0; i < 50; ++i) {
        const auto size = static_cast<size_t>(64 + 64 * (i * 7 % 13)) << 10;
        bool is_low = true;
        Fiber(size).run([&] { is_low = is_stack_low(floor); });
        EXPECT_FALSE(is_low) << size;
    }
}

}  // namespace
}  // namespace guardtree::tests
