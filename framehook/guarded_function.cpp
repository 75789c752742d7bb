// A function's vectorcall slot: taking it over, finding the function's entries, giving
// it back.
// SPDX-License-Identifier: MIT
//
// How it works. Functions are found by address; what becomes of their calls is that of
// all guarded calls (guarded_calls.cpp).
#include "../framelocals/cpython/cpython.h"

#include "guarded_function.h"

#include <string>
#include <utility>

#include "../framelocals/no_memory.h"
#include "../guards/lookup/lookup.h"

#include "dispatch.h"
#include "function_like.h"
#include "function_registry.h"
#include "replacement.h"

namespace guardtree {
namespace {

/// Why calls of `function` cannot be guarded; empty when they can. `ours`: the entry of
/// one that was guarded before.
std::string problem_of(PyFunctionObject* function, vectorcallfunc ours) {
    const std::string name = short_repr(function->func_qualname);
    if (function->vectorcall != plain_entry && function->vectorcall != ours) {
        return "the calls of " + name +
               " are another library's already (its vectorcall slot is not CPython's): "
               "guard what that one calls";
    }
    auto* code = reinterpret_cast<PyCodeObject*>(function->func_code);
    if (CPython::init_may_escape_vectorcall && has_only_positional_slots(code) &&
        PyUnicode_CompareWithASCIIString(function->func_name, "__init__") == 0) {
        return name +
               " would be run unguarded: CPython 3.13 and later do not ask for the "
               "entry of an __init__ once they have specialised a call of its class. "
               "Guard a function that makes the instances, or give __init__ a "
               "keyword-only argument, which keeps such calls from being specialised";
    }
    return {};
}

}  // namespace

Shared<GuardedFunction> GuardedFunction::take(PyFunctionObject* function) {
    if (!CPython::has_vectorcall_entry) {
        PyErr_SetString(PyExc_NotImplementedError,
                        "CPython 3.11 inlines calls without asking for a function's "
                        "entry: guard its frames with the hook");
        return {};
    }
    if (!find_plain_entry(function)) return {};
    const std::string why = problem_of(function, call);
    if (!why.empty()) {
        PyErr_SetString(PyExc_ValueError, why.c_str());
        return {};
    }
    Identity identity;
    References references;
    Diagnostic problem;
    if (!Identity::read(as_object(function), identity, references, problem)) {
        PyErr_SetString(problem.exception, problem.message.c_str());
        return {};
    }
    Shared<GuardedFunction> made(new GuardedFunction(function, identity));
    made->references_ = std::move(references);
    put_guarded(function, made.get());
    CPython::set_vectorcall(function, call);
    return made;
}

GuardedFunction::~GuardedFunction() {
    restore();
    remove_guarded(reinterpret_cast<PyFunctionObject*>(function_.object), this);
}

GuardedFunction* GuardedFunction::find(PyFunctionObject* function) noexcept {
    GuardedFunction* const found = find_guarded(function);
    // A function at the address of one that died is not meant.
    return found && found->function_.is(as_object(function)) ? found : nullptr;
}

void GuardedFunction::release_all() noexcept {
    remove_all_guarded();
}

bool GuardedFunction::restore() noexcept {
    PyFunctionObject* function = this->function();
    // Once another guards the same function, by the same entry, that one's calls stay.
    const bool is_in_charge = function && find(function) == this;
    if (is_in_charge && function->vectorcall == call)
        CPython::set_vectorcall(function, plain_entry);
    const bool is_back = !is_in_charge || function->vectorcall == plain_entry;
    end();
    return is_back;
}

PyObject* GuardedFunction::call(PyObject* callable, PyObject* const* arguments,
                                size_t count, PyObject* keywords) {
    auto* function = reinterpret_cast<PyFunctionObject*>(callable);
    if (is_out_of_stack()) [[unlikely]]
        return raise_recursion();
    // Our entry is in the slot of functions that were taken alone, and to take one
    // replaces what was put for a dead one at its address.
    GuardedFunction* const guarded = find_guarded(function);
    if (!guarded) [[unlikely]]
        return plain_entry(callable, arguments, count, keywords);
    return dispatch<true>(*guarded, function, {arguments, count, keywords});
}

PyObject* GuardedFunction::call_plain(PyObject* function, PyObject* const* arguments,
                                      size_t count, PyObject* keywords) {
    return plain_entry(function, arguments, count, keywords);
}

}  // namespace guardtree
