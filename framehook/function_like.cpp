// Creates functions that share the data of the program's function.
// SPDX-License-Identifier: MIT
#include "../framelocals/cpython/cpython.h"

#include "function_like.h"

#include <utility>

#include "substitution.h"

namespace guardtree {
namespace {

/// Stores a reference to `value` in a member of a function, and returns the previous
/// one.
Owned<> exchange(PyObject*& member, PyObject* value) noexcept {
    return Owned<>::steal(std::exchange(member, Owned<>::share(value).release()));
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
    exchange(function->func_builtins, original->func_builtins).reset();
    take_names(function, original);
    return made;
}

bool has_names_of(const PyFunctionObject* made,
                  const PyFunctionObject* original) noexcept {
    return made->func_name == original->func_name &&
           made->func_qualname == original->func_qualname;
}

void take_names(PyFunctionObject* made, const PyFunctionObject* original) {
    const Owned<> before[] = {
        exchange(made->func_name, original->func_name),
        exchange(made->func_qualname, original->func_qualname),
    };
}

bool give_own_function(CPython::Frame* frame) {
    do {
        auto* called = reinterpret_cast<PyFunctionObject*>(CPython::function(frame));
        Owned<> made = function_like(called, CPython::code(frame));
        if (!made) return false;
        // The previous function may die here, which may run user code.
        Owned<>::steal(CPython::exchange_function(frame, made.release())).reset();
    } while (!has_generator_function(frame));
    return true;
}

}  // namespace guardtree
