// Replacement code: decides what fits, and runs code as a call.
// SPDX-License-Identifier: MIT
#include "../framelocals/cpython/cpython.h"

#include "replacement.h"

#include <utility>

#include "../framelocals/exception.h"
#include "../framelocals/views/frame_view.h"
#include "../guards/operands/operand.h"

#include "function_like.h"
#include "substitution.h"
#include "thread_state.h"

namespace guardtree {

bool always_call = false;

int argument_slots(PyCodeObject* code) noexcept {
    return code->co_argcount + code->co_kwonlyargcount +
           ((code->co_flags & CO_VARARGS) != 0) +
           ((code->co_flags & CO_VARKEYWORDS) != 0);
}

namespace {

constexpr int compared_flags = generator_flags | CO_ITERABLE_COROUTINE | CO_VARARGS |
                               CO_VARKEYWORDS | CO_OPTIMIZED | CO_NEWLOCALS;

/// Compares names one by one, because a repr would be cut.
bool same_names(PyCodeObject* a, int from_a, PyCodeObject* b, int from_b,
                int count) noexcept {
    for (int i = 0; i < count; ++i) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(a->co_localsplusnames, from_a + i),
                              PyTuple_GET_ITEM(b->co_localsplusnames, from_b + i)) !=
            0) {
            return false;
        }
    }
    return true;
}

std::string names_text(PyCodeObject* code, int from, int to) {
    auto names = Owned<>::steal(PyTuple_GetSlice(code->co_localsplusnames, from, to));
    return short_repr(names.get());
}

std::string flags_text(PyCodeObject* code) {
    std::string text;
    if (code->co_flags & CO_ITERABLE_COROUTINE)
        text = "a generator-based coroutine";
    else if (code->co_flags & CO_GENERATOR)
        text = "a generator";
    else if (code->co_flags & CO_COROUTINE)
        text = "a coroutine";
    else if (code->co_flags & CO_ASYNC_GENERATOR)
        text = "an asynchronous generator";
    else if (code->co_flags & CO_OPTIMIZED)
        text = "a function";
    else
        text = "a module or class body";
    if (code->co_flags & CO_VARARGS) text += " with *args";
    if (code->co_flags & CO_VARKEYWORDS) text += " with **kwargs";
    return text;
}

std::string counts_text(PyCodeObject* code) {
    return std::to_string(code->co_posonlyargcount) + " positional-only, " +
           std::to_string(code->co_argcount - code->co_posonlyargcount) +
           " positional, " + std::to_string(code->co_kwonlyargcount) + " keyword-only";
}

std::string differs(const char* what, const std::string& expected,
                    const std::string& found) {
    return std::string(what) + " differ: expected " + expected + ", found " + found;
}

/// The arguments of the frame as call arguments: positional ones and `*args` in
/// `positional`, the rest in `keywords` (null if there are none).
bool collect(const View& view, PyCodeObject* code, Owned<>& positional,
             Owned<>& keywords) {
    int slot = 0;
    const int named = code->co_argcount + code->co_kwonlyargcount;
    PyObject* rest = nullptr;
    if (code->co_flags & CO_VARARGS) rest = view.local(named).get();
    const Py_ssize_t rest_size = rest ? PyTuple_GET_SIZE(rest) : 0;
    positional = Owned<>::steal(PyTuple_New(code->co_argcount + rest_size));
    if (!positional) return false;
    for (; slot < code->co_argcount; ++slot) {
        PyTuple_SET_ITEM(positional.get(), slot,
                         Owned<>::share(view.local(slot).get()).release());
    }
    for (Py_ssize_t i = 0; i < rest_size; ++i) {
        PyTuple_SET_ITEM(positional.get(), code->co_argcount + i,
                         Owned<>::share(PyTuple_GET_ITEM(rest, i)).release());
    }
    const int mapping_slot = named + (rest != nullptr);
    if (code->co_flags & CO_VARKEYWORDS) {
        keywords = Owned<>::steal(PyDict_Copy(view.local(mapping_slot).get()));
    } else if (code->co_kwonlyargcount) {
        keywords = Owned<>::steal(PyDict_New());
    } else {
        return true;
    }
    for (; keywords && slot < named; ++slot) {
        PyObject* name = PyTuple_GET_ITEM(code->co_localsplusnames, slot);
        if (PyDict_SetItem(keywords.get(), name, view.local(slot).get()) < 0)
            return false;
    }
    return static_cast<bool>(keywords);
}

/// Class bodies, modules and exec() run in a namespace. Only PyEval_EvalCodeEx accepts
/// one.
Owned<> run_body(const View& view, PyCodeObject* code) {
    const Owned<> locals = Owned<>::share(view.f_locals().get());
    return Owned<>::steal(
        PyEval_EvalCodeEx(reinterpret_cast<PyObject*>(code), view.globals().get(),
                          locals.get(), nullptr, 0, nullptr, 0, nullptr, 0, nullptr,
                          code->co_nfreevars ? view.closure().get() : nullptr));
}

Owned<> call(const View& view, PyCodeObject* original, PyCodeObject* replacement) {
    Owned<> positional;
    Owned<> keywords;
    const bool is_function = (original->co_flags & CO_OPTIMIZED) != 0;
    Owned<> function;
    if (is_function) {
        function = function_like(
            reinterpret_cast<PyFunctionObject*>(view.function().get()), replacement);
        if (!function || !collect(view, original, positional, keywords)) return {};
    }
    // The new frame runs the replacement itself, so the hook must ignore it. Python
    // code may run before it is created (a keyword's `__eq__`), and is looked up as
    // usual.
    const HookPass pass(replacement);
    if (!is_function) return run_body(view, replacement);
    return Owned<>::steal(
        PyObject_Call(function.get(), positional.get(), keywords.get()));
}

}  // namespace

std::string replacement_problem(PyCodeObject* original, PyCodeObject* replacement) {
    if ((original->co_flags ^ replacement->co_flags) & compared_flags) {
        return differs("the kinds of code", flags_text(original),
                       flags_text(replacement));
    }
    if (original->co_argcount != replacement->co_argcount ||
        original->co_posonlyargcount != replacement->co_posonlyargcount ||
        original->co_kwonlyargcount != replacement->co_kwonlyargcount) {
        return differs("the arguments", counts_text(original),
                       counts_text(replacement));
    }
    const int arguments = argument_slots(original);
    if (!same_names(original, 0, replacement, 0, arguments)) {
        return differs("the argument names", names_text(original, 0, arguments),
                       names_text(replacement, 0, arguments));
    }
    const int free = first_free_slot(original);
    const int new_free = first_free_slot(replacement);
    const int count = replacement->co_nfreevars;
    if (count && (count != original->co_nfreevars ||
                  !same_names(original, free, replacement, new_free, count))) {
        return differs("the free variables",
                       names_text(original, free, original->co_nlocalsplus),
                       names_text(replacement, new_free, replacement->co_nlocalsplus));
    }
    return {};
}

bool same_parameters(PyCodeObject* a, PyCodeObject* b) noexcept {
    return has_only_positional_slots(a) && has_only_positional_slots(b) &&
           a->co_argcount == b->co_argcount &&
           a->co_posonlyargcount == b->co_posonlyargcount &&
           same_names(a, 0, b, 0, a->co_argcount);
}

std::string captures_problem(PyCodeObject* replacement, PyObject* names,
                             std::vector<uint16_t>& slots) {
    slots.clear();
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
        PyObject* name = PyTuple_GET_ITEM(names, i);
        const int slot = find_slot(replacement, name);
        const std::string text = short_repr(name);
        if (slot < 0) return "it has no local variable " + text;
        if (slot < argument_slots(replacement)) return text + " is an argument of it";
        if (slot >= first_free_slot(replacement))
            return text + " is a variable of a function around it";
        slots.push_back(static_cast<uint16_t>(slot));
    }
    return {};
}

bool may_fit_in_place(PyCodeObject* original, PyCodeObject* replacement) noexcept {
    return generator_fits(original, replacement);
}

bool may_be_called(const _PyInterpreterFrame* frame, PyCodeObject* original) noexcept {
    if (original->co_flags & CO_OPTIMIZED) return true;
    const auto made = Owned<>::steal(
        PyFunction_New(as_object(original), CPython::globals(frame)));
    if (!made) PyErr_Clear();
    return made && reinterpret_cast<PyFunctionObject*>(made.get())->func_builtins ==
                       CPython::builtins(frame);
}

PyObject* call_replacement(PyThreadState* thread, _PyInterpreterFrame* frame,
                           PyCodeObject* original, PyCodeObject* replacement) {
    Owned<> result;
    {
        const Owned<PyCodeObject> kept = Owned<PyCodeObject>::share(replacement);
        const FrameView view(frame);
        result = call(view, original, replacement);
    }
    CPython::clear_and_pop(thread, frame);
    return result.release();
}

}  // namespace guardtree
