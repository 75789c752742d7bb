// FrameView: a view of an interpreter frame. Needs CPython's private headers, so it is
// for our own sources; include cpython/cpython.h first. SPDX-License-Identifier: MIT
#pragma once
#include "cpython/cpython.h"
#include "view.h"

namespace guardtree {

/// The fast locals of a frame that was entered and has not run its first instruction.
/// Six loads to make; copies nothing.
class FrameView : public View {
public:
    explicit FrameView(const CPython::Frame* frame) noexcept {
        slots_ = CPython::slots(frame);
        code_ = CPython::code(frame);
        globals_ = CPython::globals(frame);
        builtins_ = CPython::builtins(frame);
        namespace_ = CPython::namespace_of(frame);
        function_ = CPython::function(frame);
        closure_ = reinterpret_cast<PyFunctionObject*>(function_)->func_closure;
    }
};

}  // namespace guardtree
