// Calls of a compiled function that find their entry before Dynamo's wrapper runs.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <c10/core/impl/LocalDispatchKeySet.h>

#include "ref.h"

namespace guardtree {
namespace {

/// What a compiled call is made of, by place in the tuple that the builtin has as self.
enum CallPart : Py_ssize_t {
    entries_part,   ///< runs the entry that fits, or gives `missed`
    wrapper_part,   ///< Dynamo's wrapper: serves all other calls
    missed_part,    ///< what `entries` gives where no entry fits
    callback_part,  ///< gives this thread's callback
    function_part,  ///< what the user wrote
    code_part,      ///< its code, as entries were made for it
    defaults_part,  ///< its defaults, as entries have them
    keywords_part,
    undo_part,      ///< pops functorch's levels down to a number
    stances_part,   ///< the dict that has "_stance"
    thread_part,    ///< the threading.local that may have "tracing_context"
    flags_part,     ///< pairs of a dict and the name of a flag in it
    part_count
};

PyObject* part_of(PyObject* self, CallPart part) {
    return PyTuple_GET_ITEM(self, part);
}

/// A null pointer where Python says None.
PyObject* none_as_null(PyObject* value) {
    return value == Py_None ? nullptr : value;
}

bool attribute_is(PyObject* object, PyObject* name, PyObject* expected) {
    const auto found = Owned<>::steal(PyObject_GetAttr(object, name));
    if (!found) PyErr_Clear();
    return found.get() == expected;
}

bool is_default_stance(PyObject* stances) {
    static PyObject* const stance = PyUnicode_InternFromString("_stance");
    static PyObject* const name = PyUnicode_InternFromString("stance");
    static PyObject* const usual = PyUnicode_InternFromString("default");
    static PyObject* const backend = PyUnicode_InternFromString("backend");
    static PyObject* const skips =
        PyUnicode_InternFromString("skip_guard_eval_unsafe");
    PyObject* const found = PyDict_GetItemWithError(stances, stance);
    if (!found) return false;
    const auto held = Owned<>::share(found);
    return attribute_is(found, name, usual) && attribute_is(found, backend, Py_None) &&
           attribute_is(found, skips, Py_False);
}

/// Whether a trace is made in this thread: of a compile, or of an export.
bool has_tracing_context(PyObject* thread) {
    static PyObject* const name = PyUnicode_InternFromString("tracing_context");
    const auto found = Owned<>::steal(PyObject_GetAttr(thread, name));
    if (found) return found.get() != Py_None;
    PyErr_Clear();
    return false;
}

bool are_flags_off(PyObject* flags) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(flags); i += 2) {
        PyObject* const found = PyDict_GetItemWithError(
            PyTuple_GET_ITEM(flags, i), PyTuple_GET_ITEM(flags, i + 1));
        if (found != Py_False) return false;
    }
    return true;
}

/// Modes, functorch's levels and torch.jit.trace each add a key of their own.
bool has_usual_keys(const c10::impl::LocalDispatchKeySet& keys) {
    return !(keys.included_.raw_repr() & ~c10::default_included_set.raw_repr());
}

/// Whether entries were made for the function as it is now.
bool is_same_function(PyObject* self) {
    PyObject* const function = part_of(self, function_part);
    return PyFunction_GET_CODE(function) == part_of(self, code_part) &&
           PyFunction_GET_DEFAULTS(function) ==
               none_as_null(part_of(self, defaults_part)) &&
           PyFunction_GET_KW_DEFAULTS(function) ==
               none_as_null(part_of(self, keywords_part));
}

/// Whether the wrapper would do nothing but run what the hook finds. An exception may
/// be set where it is false.
bool is_usual_call(PyObject* self, const c10::impl::LocalDispatchKeySet& keys) {
    if (!has_usual_keys(keys) || !is_same_function(self)) return false;
    const auto callback =
        Owned<>::steal(PyObject_CallNoArgs(part_of(self, callback_part)));
    return callback.get() == Py_None &&
           is_default_stance(part_of(self, stances_part)) &&
           are_flags_off(part_of(self, flags_part)) &&
           !has_tracing_context(part_of(self, thread_part));
}

/// As the wrapper leaves the thread: without functorch's levels of code that raised,
/// and with the keys of before.
void leave_as_before(PyObject* self, const c10::impl::LocalDispatchKeySet& before) {
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    const auto zero = Owned<>::steal(PyLong_FromLong(0));
    const auto done = Owned<>::steal(
        zero ? PyObject_CallOneArg(part_of(self, undo_part), zero.get()) : nullptr);
    if (!done) PyErr_WriteUnraisable(self);
    c10::impl::_force_tls_local_dispatch_key_set(before);
    PyErr_Restore(type, value, traceback);
}

PyObject* call_compiled(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                        PyObject* names) {
    const auto given = static_cast<size_t>(count);
    const c10::impl::LocalDispatchKeySet before =
        c10::impl::tls_local_dispatch_key_set();
    if (is_usual_call(self, before)) [[likely]] {
        auto result = Owned<>::steal(
            PyObject_Vectorcall(part_of(self, entries_part), arguments, given, names));
        const c10::impl::LocalDispatchKeySet after =
            c10::impl::tls_local_dispatch_key_set();
        if (!result || after.included_ != before.included_ ||
            after.excluded_ != before.excluded_) [[unlikely]] {
            leave_as_before(self, before);
        }
        if (result.get() != part_of(self, missed_part)) return result.release();
    }
    if (PyErr_Occurred()) return nullptr;
    return PyObject_Vectorcall(part_of(self, wrapper_part), arguments, given, names);
}

PyMethodDef compiled_call_method = {
    "compiled_call",
    reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call_compiled)),
    METH_FASTCALL | METH_KEYWORDS, nullptr};

/// compiled_call(parts): a builtin that calls what fits, by CallPart.
PyObject* make_compiled_call(PyObject*, PyObject* parts) {
    if (!PyTuple_CheckExact(parts) || PyTuple_GET_SIZE(parts) != part_count ||
        !PyFunction_Check(part_of(parts, function_part)) ||
        !PyDict_Check(part_of(parts, stances_part)) ||
        !PyTuple_CheckExact(part_of(parts, flags_part)) ||
        PyTuple_GET_SIZE(part_of(parts, flags_part)) % 2) {
        PyErr_SetString(PyExc_TypeError, "expected the parts of a compiled call");
        return nullptr;
    }
    return PyCFunction_New(&compiled_call_method, parts);
}

/// set_eval_frame: None, which Dynamo sets most often, goes to the hook at once.
PyObject* set_callback_of_thread(PyObject* self, PyObject* callback) {
    const Py_ssize_t place = callback == Py_None ? 0 : 1;
    return PyObject_CallOneArg(PyTuple_GET_ITEM(self, place), callback);
}

PyMethodDef callback_setter_method = {"set_eval_frame", set_callback_of_thread, METH_O,
                                      nullptr};

/// callback_setter((for_none, for_others)): a builtin that calls one of them.
PyObject* make_callback_setter(PyObject*, PyObject* pair) {
    if (PyTuple_CheckExact(pair) && PyTuple_GET_SIZE(pair) == 2)
        return PyCFunction_New(&callback_setter_method, pair);
    PyErr_SetString(PyExc_TypeError, "expected a pair of callables");
    return nullptr;
}

PyObject* return_missed(PyObject* self, PyObject* const*, Py_ssize_t, PyObject*) {
    return Owned<>::share(self).release();
}

PyMethodDef missed_method = {
    "missed",
    reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&return_missed)),
    METH_FASTCALL | METH_KEYWORDS, nullptr};

/// returning(value): a builtin that gives this value, whatever it is called with.
PyObject* make_returning(PyObject*, PyObject* value) {
    return PyCFunction_New(&missed_method, value);
}

}  // namespace
}  // namespace guardtree
