// The head of each Python tensor.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <c10/core/TensorImpl.h>

namespace guardtree {

/// THPVariable (torch/csrc/autograd/python_variable.h).
struct TorchTensor {
    PyObject_HEAD
    c10::TensorImpl* impl;
};

/// Null after a constructor that failed.
inline const c10::TensorImpl* impl_of(PyObject* tensor) noexcept {
    return reinterpret_cast<const TorchTensor*>(tensor)->impl;
}

}  // namespace guardtree
