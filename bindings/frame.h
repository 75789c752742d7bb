// The frame given to callbacks: a window on a view that closes when the callback
// returns. SPDX-License-Identifier: MIT
#pragma once
#include <pybind11/pybind11.h>

#include <memory>

#include "../framelocals/view.h"

namespace guardtree {

namespace py = pybind11;

/// Safe to keep: after close() every use raises RuntimeError, and nothing of the frame
/// is read or held.
class FrameHandle {
public:
    /// `outer`: the code of the callback that this one runs in, or null.
    FrameHandle(const View& view, PyCodeObject* outer)
        : view_(std::make_unique<KeptView>(view)), origin_(&view), outer_(outer) {}

    /// Throws RuntimeError when the callback is over.
    const View& view() const;

    bool is_open() const noexcept { return view_ != nullptr; }

    /// While the view that it was made of is there.
    void close() noexcept {
        if (view_) origin_->take_dict(*view_);
        view_.reset();
    }

    /// The handle behind a Python Frame, or null for any other object.
    static FrameHandle* from_python(PyObject* object) noexcept;

    PyCodeObject* outer_code() const noexcept { return outer_; }

private:
    /// Of its own: another greenlet may ask while the C stack of this one is away.
    std::unique_ptr<KeptView> view_;
    const View* origin_;
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
