// What bound functions that run guards need where greenlets take turns on a thread.
// SPDX-License-Identifier: MIT
#pragma once
#include <pybind11/pybind11.h>

namespace guardtree {

namespace py = pybind11;

/// pybind11 keeps a list of the calls that are open in a thread and ends the process
/// when they do not end in reverse order, which they need not do in greenlets. For
/// py::call_guard: while the function runs, its call is not in the list, so that every
/// switch inside it finds and leaves an empty one.
class GreenletCall {
public:
    GreenletCall() : call_(py_call()) { set_py_call(nullptr); }

    ~GreenletCall() { set_py_call(call_); }

    GreenletCall(const GreenletCall&) = delete;
    GreenletCall& operator=(const GreenletCall&) = delete;

    using Call = py::detail::loader_life_support;

private:
    static Call* py_call();
    static void set_py_call(Call* call);

    Call* call_;
};

}  // namespace guardtree
