// The data stack of a thread: the memory chunks in which CPython stores its frames.
// Each greenlet has its own, so the first chunk identifies the greenlet.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// A chunk of frames. `previous` leads to the first one, which CPython frees together
/// with the greenlet or the thread, never earlier.
using StackChunk = _PyStackChunk;

/// The chunk of the next frame. Null in a greenlet that has not run a frame yet.
inline const StackChunk* top_chunk(const PyThreadState* thread) noexcept {
    return thread->datastack_chunk;
}

/// Whether `chunk` is part of the stack that ends in `top`.
inline bool is_in_stack(const StackChunk* chunk, const StackChunk* top) noexcept {
    while (top && top != chunk) top = top->previous;
    return top != nullptr;
}

/// The first chunk of the stack that ends in `top`; null for null.
const StackChunk* first_chunk(const StackChunk* top) noexcept;

/// Like top_chunk, but allocates the first chunk of a stack that has none. Null,
/// without an exception, if there is no memory.
const StackChunk* require_chunk(PyThreadState* thread) noexcept;

}  // namespace guardtree
