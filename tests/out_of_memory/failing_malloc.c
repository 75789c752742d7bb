// A library for LD_PRELOAD: malloc fails where the test says so.
// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stddef.h>

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

volatile int guardtree_test_armed;     // allocations are counted
volatile long guardtree_test_left;     // so many succeed
volatile int guardtree_test_more;      // all of the rest fail, not one alone
volatile int guardtree_test_failures;  // so many have failed

static int fails(void) {
    if (!guardtree_test_armed || guardtree_test_left-- > 0) return 0;
    if (!guardtree_test_more && guardtree_test_failures) return 0;
    ++guardtree_test_failures;
    errno = ENOMEM;
    return 1;
}

void* malloc(size_t size) {
    return fails() ? NULL : __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
    return fails() ? NULL : __libc_calloc(count, size);
}

void* realloc(void* block, size_t size) {
    return fails() ? NULL : __libc_realloc(block, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
    return fails() ? NULL : __libc_memalign(alignment, size);
}
