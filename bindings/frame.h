// The frame given to callbacks: a window on a view that closes when the callback
// returns. SPDX-License-Identifier: MIT
#pragma once
#include <pybind11/pybind11.h>

#include "../framelocals/views/kept_view.h"

#include "boxed.h"

namespace guardtree {

namespace py = pybind11;

/// Safe to keep: after close() every use raises RuntimeError, and nothing of the frame
/// is read or held.
class FrameHandle {
public:
    /// `outer`: the code of the callback that this one runs in, or null. Throws where
    /// there is no memory.
    FrameHandle(const View& frame, PyCodeObject* outer);

    /// Throws RuntimeError when the callback is over. To be held while it is used:
    /// another thread may close this.
    Shared<KeptView> view() const;

    bool is_open() const noexcept { return static_cast<bool>(view_); }

    /// What was shown, which may run user code when it goes.
    Shared<KeptView> close() noexcept { return std::exchange(view_, {}); }

    /// The handle behind a Python Frame, or null for any other object.
    static FrameHandle* from_python(PyObject* object) noexcept;

    PyCodeObject* outer_code() const noexcept { return outer_; }

private:
    Shared<KeptView> view_;
    PyCodeObject* outer_;
};

/// A Python Frame that is open while this lives, however that ends. Throws where there
/// is no memory for it.
class OpenFrame {
public:
    explicit OpenFrame(const View& view);

    ~OpenFrame() { handle_->close(); }

    OpenFrame(const OpenFrame&) = delete;
    OpenFrame& operator=(const OpenFrame&) = delete;

    py::handle object() const noexcept { return object_; }

private:
    py::object object_;
    FrameHandle* handle_;
};

}  // namespace guardtree

GUARDTREE_BOXED(guardtree::FrameHandle, "Frame")
