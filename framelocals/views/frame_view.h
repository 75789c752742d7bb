// FrameView: a view of an interpreter frame. It needs CPython's private headers, so it
// is not for users of the library. Include cpython/cpython.h first.
// SPDX-License-Identifier: MIT
#pragma once
#include "../cpython/cpython.h"

#include "view.h"

namespace guardtree {

/// The fast locals of a frame that was entered but has not run its first instruction.
/// Construction takes one load and copies nothing.
class FrameView : public View {
public:
    explicit FrameView(const CPython::Frame* frame) noexcept
        : View(CPython::slots(frame), CPython::code(frame)) {
        frame_ = frame;
    }
};

}  // namespace guardtree
