// Operands of native, native_pure and native_get: C functions in capsules.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../../framelocals/cpython/capsule.h"

#include "operand.h"

namespace guardtree {

/// A capsule, which the operand holds, and the pointer in it. The context of the
/// capsule is the second argument of the function. The creator of the capsule keeps the
/// context alive and frees it in the capsule's destructor.
struct NativeFunction {
    PyObject* capsule = nullptr;
    void* pointer = nullptr;

    static constexpr OperandForm form = OperandForm::code;
    static constexpr const char* annotation = "object";  // in stubs

    void* context() const noexcept { return context_of(capsule); }

protected:
    static bool read_named(PyObject* from, const char* name, const char* expects,
                           NativeFunction& to, References& keep, Diagnostic& problem);
};

/// `int (*)(PyObject* value, void* context)`: 1 means pass, 0 fail, and -1 error, with
/// an exception set. The value is borrowed.
struct NativeCheck : NativeFunction {
    static constexpr const char* name = "guardtree.native_check";
    static constexpr const char* expects = "a capsule called guardtree.native_check";

    static bool read(PyObject* from, NativeCheck& to, References& keep,
                     Diagnostic& problem) {
        return read_named(from, name, expects, to, keep, problem);
    }

    int operator()(PyObject* value) const noexcept {
        using Function = int (*)(PyObject*, void*);
        return reinterpret_cast<Function>(pointer)(value, context());
    }
};

/// The same for a function that runs no Python code and never returns -1.
struct NativePureCheck : NativeFunction {
    static constexpr const char* name = "guardtree.native_pure";
    static constexpr const char* expects = "a capsule called guardtree.native_pure";

    static bool read(PyObject* from, NativePureCheck& to, References& keep,
                     Diagnostic& problem) {
        return read_named(from, name, expects, to, keep, problem);
    }

    int operator()(PyObject* value) const noexcept {
        using Function = int (*)(PyObject*, void*);
        return reinterpret_cast<Function>(pointer)(value, context());
    }
};

/// `PyObject* (*)(PyObject* value, void* context)`: returns a new reference. Null
/// without an exception means that there is no value, and null with one means error.
/// The value is borrowed.
struct NativeGetter : NativeFunction {
    static constexpr const char* name = "guardtree.native_get";
    static constexpr const char* expects = "a capsule called guardtree.native_get";

    static bool read(PyObject* from, NativeGetter& to, References& keep,
                     Diagnostic& problem) {
        return read_named(from, name, expects, to, keep, problem);
    }

    PyObject* operator()(PyObject* value) const noexcept {
        using Function = PyObject* (*)(PyObject*, void*);
        return reinterpret_cast<Function>(pointer)(value, context());
    }
};

inline bool same(const NativeFunction& a, const NativeFunction& b) noexcept {
    return a.capsule == b.capsule;
}

size_t hash_of(const NativeFunction& a) noexcept;
std::string text_of(const NativeFunction& a);

inline Owned<> object_of(const NativeFunction& a) noexcept {
    return Owned<>::share(a.capsule);
}

}  // namespace guardtree
