// CPython 3.13: its frame layout and private entry points. instr_ptr replaces
// prev_instr.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../compiler.h"
#if PY_VERSION_HEX >= 0x030D0000 && PY_VERSION_HEX < 0x030E0000
#    include <internal/pycore_ceval.h>
#    include <internal/pycore_code.h>
#    include <internal/pycore_dict.h>
#    include <internal/pycore_frame.h>
#    include <internal/pycore_object.h>
#    include <internal/pycore_pystate.h>
#    include <internal/pycore_range.h>
#    include <internal/pycore_runtime.h>
#    include <internal/pycore_setobject.h>
#    include <internal/pycore_tuple.h>

#    include <cstddef>
#    include <cstdint>
#    include <utility>

#    include "../dict_event.h"
#    include "../ref.h"

namespace guardtree {

struct CPython313 {
    using Frame = _PyInterpreterFrame;

    static constexpr const char* series = "3.13";

    /// Bits of `co_localspluskinds` (Include/internal/pycore_code.h).
    static constexpr unsigned char kind_hidden = CO_FAST_HIDDEN;
    static constexpr unsigned char kind_local = CO_FAST_LOCAL;
    static constexpr unsigned char kind_cell = CO_FAST_CELL;
    static constexpr unsigned char kind_free = CO_FAST_FREE;

    /// Whether the evaluator checks the C stack. It counts C recursion but does not
    /// know the size of the thread's stack.
    static constexpr bool checks_c_stack = false;
    /// Whether a specialised constructor call runs `__init__` without calling the hook.
    static constexpr bool init_may_escape_hook = true;
    /// Whether calls go through a function's vectorcall slot. Specialised calls do too
    /// after it was set (PyFunction_SetVectorcall, Objects/funcobject.c).
    static constexpr bool has_vectorcall_entry = true;
    /// Whether a specialised constructor call ignores the slot of `__init__`
    /// (_CREATE_INIT_FRAME, Python/bytecodes.c). An `__init__` with `*args`, `**kwargs`
    /// or keyword-only arguments is not specialised (function_kind,
    /// Python/specialize.c).
    static constexpr bool init_may_escape_vectorcall = true;

    static PyCodeObject* code(const Frame* frame) noexcept {
        return reinterpret_cast<PyCodeObject*>(frame->f_executable);
    }

    static PyObject* function(const Frame* frame) noexcept { return frame->f_funcobj; }

    static PyObject* globals(const Frame* frame) noexcept { return frame->f_globals; }

    static PyObject* builtins(const Frame* frame) noexcept { return frame->f_builtins; }

    /// The namespace of class bodies, modules and exec(). Null for functions.
    static PyObject* namespace_of(const Frame* frame) noexcept {
        return frame->f_locals;
    }

    static const uintptr_t* slots(const Frame* frame) noexcept {
        return reinterpret_cast<const uintptr_t*>(frame->localsplus);
    }

    static bool at_start(const Frame* frame, PyCodeObject* code) noexcept {
        return frame->instr_ptr == _PyCode_CODE(code);
    }

    /// The number of words of a frame of `code` on the thread's data stack.
    static Py_ssize_t frame_words(PyCodeObject* code) noexcept {
        return code->co_framesize;
    }

    /// Whether `frame`, running `from`, can become a frame of `to` in place: it belongs
    /// to the thread, has no frame object, is on top of the data stack, and its chunk
    /// has enough room.
    static bool can_substitute(PyThreadState* thread, const Frame* frame,
                               PyCodeObject* from, PyCodeObject* to) noexcept {
        PyObject* const* base = reinterpret_cast<PyObject* const*>(frame);
        return frame->owner == FRAME_OWNED_BY_THREAD && frame->frame_obj == nullptr &&
               base + frame_words(from) == thread->datastack_top &&
               base + frame_words(to) < thread->datastack_limit;
    }

    /// Makes `frame` a frame of `to` before its first instruction. Something else also
    /// owns a reference to `from`, so no object dies here and the hook needs no stack
    /// frame for this. The slots of `from` stay as they are: arguments, then unbound
    /// slots.
    static void substitute(PyThreadState* thread, Frame* frame, PyCodeObject* from,
                           PyCodeObject* to) noexcept {
        thread->datastack_top = reinterpret_cast<PyObject**>(frame) + frame_words(to);
        for (int i = from->co_nlocalsplus; i < to->co_nlocalsplus; ++i) {
            frame->localsplus[i] = nullptr;
            keep_loop();
        }
        frame->stacktop = to->co_nlocalsplus;
        PyObject* before = frame->f_executable;
        frame->f_executable = Py_NewRef(to);
        frame->instr_ptr = _PyCode_CODE(to);
        if (Py_REFCNT(from) <= 1) unreachable();
        Py_DECREF(before);
    }

    /// Binds an unbound local, before the first instruction. Steals a reference.
    static void bind_local(Frame* frame, int slot, PyObject* value) noexcept {
        frame->localsplus[slot] = value;
    }

    /// Replaces the frame's function. Steals a reference, and returns the one to the
    /// previous function.
    static PyObject* exchange_function(Frame* frame, PyObject* function) noexcept {
        return std::exchange(frame->f_funcobj, function);
    }

    /// For a hook that returns without running the frame: releases the frame's
    /// references and removes it from the data stack. A pending exception stays
    /// pending.
    static void clear_and_pop(PyThreadState* thread, Frame* frame) {
        PyObject* pending = PyErr_GetRaisedException();
        _PyEval_FrameClearAndPop(thread, frame);
        PyErr_SetRaisedException(pending);
    }

    static void set_vectorcall(PyFunctionObject* function,
                               vectorcallfunc call) noexcept {
        PyFunction_SetVectorcall(function, call);
    }

    static bool is_tracing(PyThreadState* thread) noexcept {
        return thread->tracing > 0;
    }

    /// Takes the pending exception. Null if there is none.
    static PyObject* take_exception() noexcept { return PyErr_GetRaisedException(); }

    /// Makes `exception` the pending one. Steals the reference, which may be null.
    static void raise_taken(PyObject* exception) noexcept {
        PyErr_SetRaisedException(exception);
    }

    static Py_ssize_t request_code_extra_index(freefunc release) noexcept {
        return PyUnstable_Eval_RequestCodeExtraIndex(release);
    }

    /// The value that set_code_extra stored, or null. Takes one load of the code
    /// object's private array; the public getter takes three times as long (bench
    /// `hook_hit`).
    static void* code_extra(PyCodeObject* code, Py_ssize_t index) noexcept {
        struct Extras {  // _PyCodeObjectExtra, Objects/codeobject.c
            Py_ssize_t size;
            void* values[1];
        };

        auto* extras = static_cast<const Extras*>(code->co_extra);
        return extras && index < extras->size ? extras->values[index] : nullptr;
    }

    /// False, with MemoryError set, if there is no memory.
    static bool set_code_extra(PyCodeObject* code, Py_ssize_t index,
                               void* extra) noexcept {
        return PyUnstable_Code_SetExtra(reinterpret_cast<PyObject*>(code), index,
                                        extra) == 0;
    }

    /// The dict of the module sys, borrowed from the interpreter.
    static PyObject* sys_dict() noexcept { return PyInterpreterState_Get()->sysdict; }

    /// An attribute by the full protocol. Returns 1 and a new reference, 0 if
    /// AttributeError says that there is none, or -1 with another exception set.
    static int find_attribute(PyObject* object, PyObject* name,
                              PyObject** found) noexcept {
        return PyObject_GetOptionalAttr(object, name, found);
    }

    /// The dict of a type's own attributes: a new reference, or null.
    static PyObject* type_dict(PyTypeObject* type) noexcept {
        return PyType_GetDict(type);
    }

    /// 0, because no tag is complete: attribute stores to inline values do not change
    /// it.
    static uint64_t dict_version(PyObject*) noexcept { return 0; }

    /// Takes one of the interpreter's eight ids. -1, with an exception set, if all are
    /// taken. The callback must return 0; anything else is reported as an exception.
    static int add_dict_watcher(DictWatcher watcher) noexcept {
        static DictWatcher heard_by;
        heard_by = watcher;
        return PyDict_AddWatcher(
            [](PyDict_WatchEvent event, PyObject* dict, PyObject* key, PyObject*) {
                switch (event) {
                case PyDict_EVENT_MODIFIED:
                    heard_by(DictEvent::value, dict, key);
                    break;
                case PyDict_EVENT_ADDED:
                case PyDict_EVENT_DELETED: heard_by(DictEvent::keys, dict, key); break;
                case PyDict_EVENT_DEALLOCATED:
                    heard_by(DictEvent::died, dict, nullptr);
                    break;
                default: heard_by(DictEvent::all, dict, nullptr);
                }
                return 0;
            });
    }

    static void clear_dict_watcher(int id) noexcept {
        if (PyDict_ClearWatcher(id) < 0) PyErr_Clear();
    }

    /// False, with an exception set, if the id is not in use.
    static bool watch_dict(int id, PyObject* dict) noexcept {
        return PyDict_Watch(id, dict) == 0;
    }

    static void unwatch_dict(int id, PyObject* dict) noexcept {
        if (PyDict_Unwatch(id, dict) < 0) PyErr_Clear();
    }

    /// Whether watchers may miss stores. 3.13.0 does not report attributes that are
    /// stored without using the dict (gh-125608, fixed in 3.13.1); the running version
    /// decides, not the headers. Inline values that are cleared disappear one by one
    /// after their event, so this is also true for every empty dict with inline values.
    static bool hides_stores(PyObject* dict) noexcept {
        constexpr unsigned long mended = 0x030D0100;
        const auto* object = reinterpret_cast<PyDictObject*>(dict);
        return object->ma_values && (Py_Version < mended || object->ma_used == 0);
    }

    /// The word that each change replaces (starting and stopping a watch does too).
    /// Null if stores to an instance's inline values would not change it.
    static const uint64_t* dict_tag(PyObject* dict) noexcept {
        auto* object = reinterpret_cast<PyDictObject*>(dict);
        return object->ma_values ? nullptr : &object->ma_version_tag;
    }

    /// The remaining numbers of an exact range_iterator: `length` numbers from `start`.
    static void range_left(PyObject* iterator, long& start, long& step,
                           long& length) noexcept {
        const auto* range = reinterpret_cast<const _PyRangeIterObject*>(iterator);
        start = range->start;
        step = range->step;
        length = range->len;
    }

    /// The tuple of an exact tuple_iterator, and the next index. Null if the iterator
    /// is exhausted.
    static PyObject* tuple_left(PyObject* iterator, Py_ssize_t& index) noexcept {
        const auto* left = reinterpret_cast<const _PyTupleIterObject*>(iterator);
        index = left->it_index;
        return as_object(left->it_seq);
    }

    /// Null if the headers that this was built with describe the running CPython,
    /// otherwise a message. `_PyRuntime` starts with a table of offsets for debuggers.
    static const char* layout_mismatch() noexcept {
        return layout_mismatch(_PyRuntime.debug_offsets);
    }

    static const char* layout_mismatch(const _Py_DebugOffsets& running) noexcept {
        const char cookie[] = _Py_Debug_Cookie;
        for (size_t i = 0; i < sizeof(running.cookie); ++i) {
            if (running.cookie[i] != cookie[i]) return "its offset table has no cookie";
        }
        if (running.version >> 16 != PY_VERSION_HEX >> 16) {
            return "its offset table is of another minor version";
        }
        if (running.free_threaded) return "it is a free-threaded build";
        const auto& frame = running.interpreter_frame;
        if (frame.executable != offsetof(Frame, f_executable)) {
            return "the code object lies elsewhere in its frames";
        }
        if (frame.previous != offsetof(Frame, previous)) {
            return "the caller's link lies elsewhere in its frames";
        }
        if (frame.instr_ptr != offsetof(Frame, instr_ptr)) {
            return "the instruction pointer lies elsewhere in its frames";
        }
        if (frame.localsplus != offsetof(Frame, localsplus)) {
            return "the fast locals lie elsewhere in its frames";
        }
        if (frame.owner != offsetof(Frame, owner)) {
            return "the owner lies elsewhere in its frames";
        }
        return nullptr;
    }
};

using CPython = CPython313;

}  // namespace guardtree
#endif
