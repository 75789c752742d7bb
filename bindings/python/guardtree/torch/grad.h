// Whether a tensor has a gradient, without a Python object for it.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <ATen/core/Tensor.h>
#include <c10/core/TensorImpl.h>

#include "native_capsule.h"
#include "ref.h"
#include "torch_tensor.h"

namespace guardtree {
namespace {

/// What a capsule asks for: a tensor of exactly this class, with or without a gradient.
struct GradPattern {
    Owned<> type;
    bool is_there;
};

/// guardtree.native_pure:
/// `type(value) is type and (value.grad is not None) == is_there`.
int check_grad(PyObject* value, void* context) {
    const auto& pattern = *static_cast<const GradPattern*>(context);
    if (!value || as_object(Py_TYPE(value)) != pattern.type.get()) return 0;
    const c10::TensorImpl* impl = impl_of(value);
    return impl && impl->grad().defined() == pattern.is_there;
}

PyObject* found_grad(PyObject* value, void* context) {
    const auto& pattern = *static_cast<const GradPattern*>(context);
    if (!value || as_object(Py_TYPE(value)) != pattern.type.get() || !impl_of(value))
        return PyUnicode_FromString("another object");
    return PyUnicode_FromString(pattern.is_there ? "no gradient" : "a gradient");
}

/// grad_check(type, is_there) -> a capsule for GuardManager.native_pure. `type`: a
/// class of tensors.
PyObject* grad_check(PyObject*, PyObject* args) {
    PyObject* type = nullptr;
    int is_there = 0;
    if (!PyArg_ParseTuple(args, "O!p", &PyType_Type, &type, &is_there)) return nullptr;
    static NativeFound functions{reinterpret_cast<void*>(&check_grad), &found_grad};
    return native_pure_capsule(functions,
                               GradPattern{Owned<>::share(type), is_there != 0});
}

}  // namespace
}  // namespace guardtree
