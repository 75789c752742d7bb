// Allocates the first data stack chunk of a thread or greenlet.
// SPDX-License-Identifier: MIT
#include "data_stack.h"

#include <cstddef>

namespace guardtree {

const StackChunk* first_chunk(const StackChunk* top) noexcept {
    while (top && top->previous) top = top->previous;
    return top;
}

/// Does what push_chunk in CPython's Python/pystate.c does for the first frame.
/// `data[0]` stays empty, so that no frame is the first of this chunk and frees it.
const StackChunk* require_chunk(PyThreadState* thread) noexcept {
    if (thread->datastack_chunk) return thread->datastack_chunk;
    constexpr size_t size = 16 * 1024;
    PyObjectArenaAllocator arenas;
    PyObject_GetArenaAllocator(&arenas);
    auto* chunk = static_cast<StackChunk*>(arenas.alloc(arenas.ctx, size));
    if (!chunk) return nullptr;
    chunk->previous = nullptr;
    chunk->size = size;
    chunk->top = 0;
    thread->datastack_chunk = chunk;
    thread->datastack_top = &chunk->data[1];
    thread->datastack_limit =
        reinterpret_cast<PyObject**>(reinterpret_cast<char*>(chunk) + size);
    return chunk;
}

}  // namespace guardtree
