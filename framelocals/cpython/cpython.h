// The only place that includes CPython's private headers: selects the file of the
// running version. Include it first, because 3.11 needs Py_BUILD_CORE set before
// Python.h.
// SPDX-License-Identifier: MIT
#pragma once
#if defined(Py_PYTHON_H)
#    error "Include framelocals/cpython/cpython.h before Python.h and its users."
#endif
#define Py_BUILD_CORE 1
#include <Python.h>
#ifdef Py_GIL_DISABLED
#    error "guardtree does not support free-threaded CPython yet: use a GIL build."
#endif
// pycore_atomic.h of 3.11 and 3.12 uses C11 atomics, which g++ does not have. Without
// HAVE_STD_ATOMIC it uses the compiler's builtins
// (cpython/Include/internal/pycore_atomic.h).
#undef HAVE_STD_ATOMIC

#include "cpython_3_11.h"
#include "cpython_3_12.h"
#include "cpython_3_13.h"
#include "cpython_3_14.h"
#include "cpython_3_15.h"
#undef Py_BUILD_CORE

#if PY_VERSION_HEX < 0x030B0000 || PY_VERSION_HEX >= 0x03100000
#    error \
        "This CPython has no file in framelocals/cpython/. \
Copy the newest one and follow framelocals/cpython/README.md."
#endif

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace guardtree {

/// The interface of a version's file. Every function is noexcept, needs the GIL, and
/// works on a frame that was entered but has not run its first instruction, unless it
/// says otherwise.
template <class V>
concept ReadsFrames = requires(const typename V::Frame* frame, PyCodeObject* code) {
    { V::code(frame) }
    noexcept->std::same_as<PyCodeObject*>;
    { V::function(frame) }
    noexcept->std::same_as<PyObject*>;
    { V::globals(frame) }
    noexcept->std::same_as<PyObject*>;
    { V::builtins(frame) }
    noexcept->std::same_as<PyObject*>;
    { V::namespace_of(frame) }
    noexcept->std::same_as<PyObject*>;
    { V::slots(frame) }
    noexcept->std::same_as<const uintptr_t*>;
    { V::at_start(frame, code) }
    noexcept->std::same_as<bool>;
    { V::layout_mismatch() } -> std::same_as<const char*>;
};

template <class V>
concept SubstitutesCode = requires(PyThreadState* thread, typename V::Frame* frame,
                                   PyCodeObject* code, PyObject* value) {
    { V::frame_words(code) }
    noexcept->std::same_as<Py_ssize_t>;
    { V::can_substitute(thread, frame, code, code) }
    noexcept->std::same_as<bool>;
    { V::substitute(thread, frame, code, code) }
    noexcept;
    { V::bind_local(frame, 0, value) }
    noexcept;
    { V::exchange_function(frame, value) }
    noexcept->std::same_as<PyObject*>;
    { V::clear_and_pop(thread, frame) };
    { V::is_tracing(thread) }
    noexcept->std::same_as<bool>;
    { V::checks_c_stack } -> std::convertible_to<bool>;
    { V::init_may_escape_hook } -> std::convertible_to<bool>;
};

template <class V>
concept EntersFunctions = requires(PyFunctionObject* function, vectorcallfunc call) {
    { V::has_vectorcall_entry } -> std::convertible_to<bool>;
    { V::init_may_escape_vectorcall } -> std::convertible_to<bool>;
    { V::set_vectorcall(function, call) }
    noexcept;
};

template <class V>
concept HoldsCodeExtra = requires(PyCodeObject* code, void* extra, Py_ssize_t index) {
    { V::request_code_extra_index(freefunc{}) }
    noexcept->std::same_as<Py_ssize_t>;
    { V::code_extra(code, index) }
    noexcept->std::same_as<void*>;
    { V::set_code_extra(code, index, extra) }
    noexcept->std::same_as<bool>;
};

template <class V>
concept MovesExceptions = requires(PyObject* exception) {
    { V::take_exception() }
    noexcept->std::same_as<PyObject*>;
    { V::raise_taken(exception) }
    noexcept;
};

template <class V>
concept ReadsObjects = requires(PyObject* object, PyTypeObject* type, long& number,
                                Py_ssize_t& index, PyObject** found) {
    { V::find_attribute(object, object, found) }
    noexcept->std::same_as<int>;
    { V::type_dict(type) }
    noexcept->std::same_as<PyObject*>;
    { V::sys_dict() }
    noexcept->std::same_as<PyObject*>;
    { V::dict_version(object) }
    noexcept->std::same_as<uint64_t>;
    { V::range_left(object, number, number, number) }
    noexcept;
    { V::tuple_left(object, index) }
    noexcept->std::same_as<PyObject*>;
};

template <class V>
concept WatchesDicts = requires(PyObject* dict, DictWatcher watcher, int id) {
    { V::add_dict_watcher(watcher) }
    noexcept->std::same_as<int>;
    { V::clear_dict_watcher(id) }
    noexcept;
    { V::watch_dict(id, dict) }
    noexcept->std::same_as<bool>;
    { V::unwatch_dict(id, dict) }
    noexcept;
    { V::hides_stores(dict) }
    noexcept->std::same_as<bool>;
    { V::dict_tag(dict) }
    noexcept->std::same_as<const uint64_t*>;
};

template <class V>
concept CPythonVersion = ReadsFrames<V> && SubstitutesCode<V> && EntersFunctions<V> &&
    HoldsCodeExtra<V> && MovesExceptions<V> && ReadsObjects<V> && WatchesDicts<V>;

static_assert(CPythonVersion<CPython>,
              "framelocals/cpython/: this version's file is incomplete");

}  // namespace guardtree
