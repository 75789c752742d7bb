// The floor of a thread's C stack: below where code runs, and inside the stack.
// SPDX-License-Identifier: MIT
#include "../../framehook/stack_floor.h"

#include <cstddef>
#include <functional>

#include <gtest/gtest.h>
#include <pthread.h>

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

}  // namespace
}  // namespace guardtree::tests
