// FrameView: a view of an interpreter frame. Needs CPython's private headers, so it is
// for our own sources; include cpython/cpython.h first.
// SPDX-License-Identifier: MIT
#pragma once
#include "../cpython/cpython.h"

#include "view.h"

namespace guardtree {

/// The fast locals of a frame that was entered and has not run its first instruction.
/// One load to make; copies nothing.
class FrameView : public View {
public:
    explicit FrameView(const CPython::Frame* frame) noexcept
        : View(CPython::slots(frame), CPython::code(frame)) {
        frame_ = frame;
    }
};

}  // namespace guardtree
