// The data stack of the running thread: the chunks of memory that CPython keeps its
// frames in. Each greenlet has its own, which makes it the greenlet's identity.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

namespace guardtree {

/// A chunk of frames. `previous` leads to the first one, which CPython frees with the
/// greenlet or the thread and never before.
using StackChunk = _PyStackChunk;

/// The chunk that the next frame goes to. Null in a greenlet that has run no frame yet.
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

/// Like top_chunk, but gives a stack without a chunk its first one. Null where there is
/// no memory for it; no exception is set.
const StackChunk* require_chunk(PyThreadState* thread) noexcept;

}  // namespace guardtree
