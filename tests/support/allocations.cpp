// The counting allocators: replaced operator new, wrappers around CPython's domains.
// SPDX-License-Identifier: MIT
#include "allocations.h"

#include <Python.h>

#include <atomic>
#include <cstdlib>
#include <iterator>
#include <new>

namespace guardtree::tests {
namespace {

std::atomic<bool> is_counting = false;
std::atomic<size_t> cpp_count = 0;
std::atomic<size_t> python_count = 0;

constexpr PyMemAllocatorDomain domains[] = {PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM,
                                            PYMEM_DOMAIN_OBJ};
PyMemAllocatorEx originals[std::size(domains)];

const PyMemAllocatorEx& original(void* context) noexcept {
    return *static_cast<const PyMemAllocatorEx*>(context);
}

void* count_malloc(void* context, size_t size) {
    ++python_count;
    return original(context).malloc(original(context).ctx, size);
}

void* count_calloc(void* context, size_t count, size_t size) {
    ++python_count;
    return original(context).calloc(original(context).ctx, count, size);
}

void* count_realloc(void* context, void* block, size_t size) {
    ++python_count;
    return original(context).realloc(original(context).ctx, block, size);
}

void pass_free(void* context, void* block) {
    original(context).free(original(context).ctx, block);
}

}  // namespace

void start_counting() noexcept {
    for (size_t i = 0; i < std::size(domains); ++i) {
        PyMem_GetAllocator(domains[i], &originals[i]);
        PyMemAllocatorEx counting = {&originals[i], count_malloc, count_calloc,
                                     count_realloc, pass_free};
        PyMem_SetAllocator(domains[i], &counting);
    }
    cpp_count = 0;
    python_count = 0;
    is_counting = true;
}

Allocations stop_counting() noexcept {
    is_counting = false;
    for (size_t i = 0; i < std::size(domains); ++i) {
        PyMem_SetAllocator(domains[i], &originals[i]);
    }
    return {cpp_count, python_count};
}

}  // namespace guardtree::tests

void* operator new(size_t size, const std::nothrow_t&) noexcept {
    using namespace guardtree::tests;
    if (is_counting) ++cpp_count;
    return std::malloc(size ? size : 1);
}

void* operator new(size_t size) {
    if (void* block = operator new(size, std::nothrow)) return block;
    throw std::bad_alloc();
}

void* operator new[](size_t size) {
    return operator new(size);
}

void* operator new[](size_t size, const std::nothrow_t&) noexcept {
    return operator new(size, std::nothrow);
}

void operator delete(void* block) noexcept {
    std::free(block);
}

void operator delete(void* block, size_t) noexcept {
    std::free(block);
}

void operator delete[](void* block) noexcept {
    std::free(block);
}

void operator delete[](void* block, size_t) noexcept {
    std::free(block);
}
