// A real frame to measure on: a function is called, the work is done as it is entered.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <functional>
#include <span>

#include "../../framelocals/ref.h"

struct _PyInterpreterFrame;

namespace guardtree::bench {

/// Calls `function` with `arguments` and hands its frame, before the first instruction,
/// to `use`: the frame that a hook sees, tagged stack references of 3.14 and later
/// included.
void in_frame_of(PyObject* function, std::span<const Owned<>> arguments,
                 const std::function<void(const _PyInterpreterFrame*)>& use);

}  // namespace guardtree::bench
