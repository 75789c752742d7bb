// Functions of ours: what they share with the program's function.
// SPDX-License-Identifier: MIT
#include "../framelocals/cpython/cpython.h"

#include "function_like.h"

#include "substitution.h"

namespace guardtree {
namespace {

/// Puts another reference to `value` into a member of a function that nobody else has.
void share_into(PyObject*& member, PyObject* value) noexcept {
    const auto before = Owned<>::steal(member);
    member = Owned<>::share(value).release();
}

}  // namespace

Owned<> function_like(PyFunctionObject* original, PyCodeObject* code) noexcept {
    auto made =
        Owned<>::steal(PyFunction_New(as_object(code), original->func_globals));
    if (!made) return {};
    if (code->co_nfreevars && original->func_closure &&
        PyFunction_SetClosure(made.get(), original->func_closure) < 0)
        return {};
    auto* function = reinterpret_cast<PyFunctionObject*>(made.get());
    share_into(function->func_builtins, original->func_builtins);
    share_into(function->func_name, original->func_name);
    share_into(function->func_qualname, original->func_qualname);
    return made;
}

bool give_own_function(CPython::Frame* frame) {
    do {
        auto* called = reinterpret_cast<PyFunctionObject*>(CPython::function(frame));
        Owned<> made = function_like(called, CPython::code(frame));
        if (!made) return false;
        // The function before may die of this, which may run user code.
        Owned<>::steal(CPython::exchange_function(frame, made.release())).reset();
    } while (!has_generator_function(frame));
    return true;
}

}  // namespace guardtree
