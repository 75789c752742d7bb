// Calls of a compiled function that find their entry before Dynamo's wrapper runs.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <c10/core/impl/LocalDispatchKeySet.h>

#include "module_call.h"
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
    undo_part,     ///< pops functorch's levels down to a number
    stances_part,  ///< the dict that has "_stance"
    thread_part,   ///< triples: a threading.local, a name in it, its usual value
    flags_part,    ///< pairs of a dict and the name of a flag in it
    module_part,   ///< None, or the parts of a module whose `forward` the function is
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

/// Whether this thread is not inside a compile, an export or a symbolic trace. A
/// missing attribute counts as its usual value. It is then set, because each read of a
/// missing attribute creates an exception.
bool is_usual_thread(PyObject* triples) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(triples); i += 3) {
        PyObject* const local = PyTuple_GET_ITEM(triples, i);
        PyObject* const name = PyTuple_GET_ITEM(triples, i + 1);
        PyObject* const usual = PyTuple_GET_ITEM(triples, i + 2);
        const auto found = Owned<>::steal(PyObject_GetAttr(local, name));
        if (found.get() == usual) continue;
        if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return false;
        PyErr_Clear();
        if (PyObject_SetAttr(local, name, usual) < 0) return false;
    }
    return true;
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
           is_usual_thread(part_of(self, thread_part)) &&
           (part_of(self, module_part) == Py_None ||
            only_calls_forward(part_of(self, module_part)));
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

/// What the entry that fits gives, or `missed`: the wrapper has to run. An exception
/// may be set where it is `missed`.
Owned<> run_entries(PyObject* self, PyObject* const* arguments, size_t given,
                    PyObject* names) {
    const c10::impl::LocalDispatchKeySet before =
        c10::impl::tls_local_dispatch_key_set();
    if (!is_usual_call(self, before)) [[unlikely]]
        return Owned<>::share(part_of(self, missed_part));
    auto result = Owned<>::steal(
        PyObject_Vectorcall(part_of(self, entries_part), arguments, given, names));
    const c10::impl::LocalDispatchKeySet after =
        c10::impl::tls_local_dispatch_key_set();
    if (!result || after.included_ != before.included_ ||
        after.excluded_ != before.excluded_) [[unlikely]] {
        leave_as_before(self, before);
    }
    return result;
}

PyObject* call_compiled(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                        PyObject* names) {
    const auto given = static_cast<size_t>(count);
    auto result = run_entries(self, arguments, given, names);
    if (result.get() != part_of(self, missed_part)) [[likely]]
        return result.release();
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
        PyTuple_GET_SIZE(part_of(parts, flags_part)) % 2 ||
        !PyTuple_CheckExact(part_of(parts, thread_part)) ||
        PyTuple_GET_SIZE(part_of(parts, thread_part)) % 3 ||
        !(part_of(parts, module_part) == Py_None ||
          are_module_parts(part_of(parts, module_part)))) {
        PyErr_SetString(PyExc_TypeError, "expected the parts of a compiled call");
        return nullptr;
    }
    return PyCFunction_New(&compiled_call_method, parts);
}

/// What a call of a module that torch.compile gave is made of.
enum OptimizedPart : Py_ssize_t {
    original_part,  ///< the class's `__call__`, as torch has it
    class_part,     ///< the class, as `ClassPart` says
    hooks_part,     ///< the dict that has the hooks of all modules
    keyword_part,   ///< of a wrapper's keyword defaults: has what runs its entries
    optimized_count
};

/// The parts of the compiled call that a module's own `__call__` would reach without
/// doing anything else; null where it would.
PyObject* compiled_call_of(PyObject* self, PyObject* module) {
    static PyObject* const forward_name = PyUnicode_InternFromString("forward");
    if (has_global_hooks(PyTuple_GET_ITEM(self, hooks_part)) ||
        !is_known_class(Py_TYPE(module), PyTuple_GET_ITEM(self, class_part))) {
        return nullptr;
    }
    const auto dict = Owned<>::steal(PyObject_GenericGetDict(module, nullptr));
    if (!dict || !has_no_hooks(dict.get()) || is_compiled_in_place(dict.get()) ||
        has_own_call(dict.get())) {
        return nullptr;
    }
    PyObject* const forward = PyDict_GetItemWithError(dict.get(), forward_name);
    if (!forward || !PyFunction_Check(forward)) return nullptr;
    PyObject* const defaults = PyFunction_GET_KW_DEFAULTS(forward);
    if (!defaults) return nullptr;
    PyObject* const found =
        PyDict_GetItemWithError(defaults, PyTuple_GET_ITEM(self, keyword_part));
    if (!found || !PyCFunction_CheckExact(found) ||
        PyCFunction_GET_FUNCTION(found) != compiled_call_method.ml_meth) {
        return nullptr;
    }
    return PyCFunction_GET_SELF(found);
}

PyObject* call_optimized(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                         PyObject* names) {
    const auto given = static_cast<size_t>(count);
    PyObject* const parts = count ? compiled_call_of(self, arguments[0]) : nullptr;
    if (parts) {
        // Kept: the call may replace what has them.
        const auto kept = Owned<>::share(parts);
        auto result = run_entries(parts, arguments + 1, given - 1, names);
        if (result.get() != part_of(parts, missed_part)) [[likely]]
            return result.release();
    }
    if (PyErr_Occurred()) return nullptr;
    return PyObject_Vectorcall(PyTuple_GET_ITEM(self, original_part), arguments, given,
                               names);
}

PyMethodDef optimized_call_method = {
    "optimized_call",
    reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call_optimized)),
    METH_FASTCALL | METH_KEYWORDS, nullptr};

/// optimized_call(parts): a builtin that calls a module of torch.compile, by
/// OptimizedPart.
PyObject* make_optimized_call(PyObject*, PyObject* parts) {
    if (!PyTuple_CheckExact(parts) || PyTuple_GET_SIZE(parts) != optimized_count ||
        !are_class_parts(PyTuple_GET_ITEM(parts, class_part)) ||
        !PyDict_Check(PyTuple_GET_ITEM(parts, hooks_part))) {
        PyErr_SetString(PyExc_TypeError, "expected the parts of a module's call");
        return nullptr;
    }
    return PyCFunction_New(&optimized_call_method, parts);
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
