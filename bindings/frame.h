// The frame that callbacks get: it refers to a view and is closed when the callback
// returns.
// returns. SPDX-License-Identifier: MIT
#pragma once
#include <pybind11/pybind11.h>

#include "../framelocals/views/kept_view.h"

#include "boxed.h"

namespace guardtree {

namespace py = pybind11;

/// Safe to keep. After close(), every use raises RuntimeError, and the object neither
/// reads nor holds any part of the frame.
class FrameHandle {
public:
    /// `outer`: the code object for which the enclosing callback was called, or null.
    /// Throws if there is no memory.
    FrameHandle(const View& frame, PyCodeObject* outer);

    /// Throws RuntimeError if the callback has returned. Hold the result while you use
    /// it, because another thread may close this object.
    Shared<KeptView> view() const;

    bool is_open() const noexcept { return static_cast<bool>(view_); }

    /// Closes the frame and returns its view. Releasing that may run user code.
    Shared<KeptView> close() noexcept { return std::exchange(view_, {}); }

    /// The handle behind a Python Frame. Null for other objects.
    static FrameHandle* from_python(PyObject* object) noexcept;

    PyCodeObject* outer_code() const noexcept { return outer_; }

private:
    Shared<KeptView> view_;
    PyCodeObject* outer_;
};

/// A Python Frame that is open during the lifetime of this object, and is closed in
/// every case. Throws if there is no memory.
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
