// CPython 3.12: its frame layout and private entry points. The evaluator clears the
// frames that it runs.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../compiler.h"
#if PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030D0000
#    undef _PyGC_FINALIZED  // defined twice by 3.12's own headers
#    include <internal/pycore_code.h>
#    include <internal/pycore_dict.h>
#    include <internal/pycore_frame.h>
#    include <internal/pycore_object.h>
#    include <internal/pycore_pystate.h>
#    include <internal/pycore_range.h>
#    include <internal/pycore_tuple.h>

#    include <cstddef>
#    include <cstdint>
#    include <utility>

#    include "../dict_event.h"
#    include "../ref.h"

namespace guardtree {

struct CPython312 {
    using Frame = _PyInterpreterFrame;

    static constexpr const char* series = "3.12";

    /// Bits of `co_localspluskinds` (Include/internal/pycore_code.h).
    static constexpr unsigned char kind_hidden = CO_FAST_HIDDEN;
    static constexpr unsigned char kind_local = CO_FAST_LOCAL;
    static constexpr unsigned char kind_cell = CO_FAST_CELL;
    static constexpr unsigned char kind_free = CO_FAST_FREE;

    /// Whether the evaluator checks the C stack. It counts C recursion but does not
    /// know the size of the thread's stack.
    static constexpr bool checks_c_stack = false;
    /// Whether a specialised constructor call runs `__init__` without calling the hook.
    static constexpr bool init_may_escape_hook = false;
    /// Whether calls go through a function's vectorcall slot. Specialised calls do too
    /// after it was set (PyFunction_SetVectorcall, Objects/funcobject.c).
    static constexpr bool has_vectorcall_entry = true;
    /// Whether a specialised constructor call ignores the slot of `__init__`.
    static constexpr bool init_may_escape_vectorcall = false;

    static PyCodeObject* code(const Frame* frame) noexcept { return frame->f_code; }

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
        return frame->prev_instr == _PyCode_CODE(code) - 1;
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
        PyCodeObject* before = frame->f_code;
        frame->f_code = reinterpret_cast<PyCodeObject*>(Py_NewRef(to));
        frame->prev_instr = _PyCode_CODE(to) - 1;
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
    /// references and removes it from the data stack. 3.12 does not export its own
    /// function (_PyEvalFrameClearAndPop). A pending exception stays pending.
    static void clear_and_pop(PyThreadState* thread, Frame* frame) {
        PyObject* pending = PyErr_GetRaisedException();
        PyCodeObject* code = frame->f_code;
        const int count = code->co_nlocalsplus;
        frame->stacktop = 0;
        for (int i = 0; i < count; ++i) Py_XDECREF(frame->localsplus[i]);
        Py_XDECREF(frame->f_locals);
        Py_DECREF(frame->f_funcobj);
        Py_DECREF(code);
        pop(thread, frame);
        PyErr_SetRaisedException(pending);
    }

    /// Like _PyThreadState_PopFrame, Python/pystate.c: the first frame of a chunk frees
    /// the chunk.
    static void pop(PyThreadState* thread, Frame* frame) noexcept {
        auto** base = reinterpret_cast<PyObject**>(frame);
        _PyStackChunk* chunk = thread->datastack_chunk;
        if (base != &chunk->data[0]) {
            thread->datastack_top = base;
            return;
        }
        _PyStackChunk* previous = chunk->previous;
        thread->datastack_top = &previous->data[previous->top];
        thread->datastack_chunk = previous;
        thread->datastack_limit = reinterpret_cast<PyObject**>(
            reinterpret_cast<char*>(previous) + previous->size);
        PyObjectArenaAllocator arenas;
        PyObject_GetArenaAllocator(&arenas);
        arenas.free(arenas.ctx, chunk, chunk->size);
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
        return _PyObject_LookupAttr(object, name, found);
    }

    /// The dict of a type's own attributes: a new reference, or null.
    static PyObject* type_dict(PyTypeObject* type) noexcept {
        return PyType_GetDict(type);
    }

    /// 0, because no tag is complete: 3.12 deprecates it, and watchers change it too.
    static uint64_t dict_version(PyObject*) noexcept { return 0; }

    /// Whether an event for a changed value may mean an added key. This happens if
    /// other instances of the class have the key (insertdict, Objects/dictobject.c).
    static bool adds_key(PyObject* dict, PyObject* key) noexcept {
        if (!reinterpret_cast<PyDictObject*>(dict)->ma_values) return false;
        // With exact strs, none of this can fail or run Python code.
        return !PyUnicode_CheckExact(key) || PyDict_Contains(dict, key) == 0;
    }

    /// Takes one of the interpreter's eight ids. -1, with an exception set, if all are
    /// taken. The callback must return 0; anything else is reported as an exception.
    static int add_dict_watcher(DictWatcher watcher) noexcept {
        static DictWatcher heard_by;
        heard_by = watcher;
        return PyDict_AddWatcher(
            [](PyDict_WatchEvent event, PyObject* dict, PyObject* key, PyObject*) {
                switch (event) {
                case PyDict_EVENT_MODIFIED:
                    heard_by(adds_key(dict, key) ? DictEvent::keys : DictEvent::value,
                             dict, key);
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

    /// Whether watchers may miss stores.
    static bool hides_stores(PyObject*) noexcept { return false; }

    /// The word that each change replaces. Starting and stopping a watch replaces it
    /// too.
    static const uint64_t* dict_tag(PyObject* dict) noexcept {
        return &reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
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
    /// otherwise a message. 3.12 publishes no offsets. They are fixed here at compile
    /// time, and probe.cpp reads a live frame when the module loads.
    static const char* layout_mismatch() noexcept {
        static_assert(offsetof(Frame, localsplus) == 72);
        static_assert(offsetof(Frame, f_code) == 0);
        static_assert(offsetof(Frame, f_funcobj) == 16);
        static_assert(offsetof(Frame, f_globals) == 24);
        static_assert(offsetof(Frame, prev_instr) == 56);
        static_assert(offsetof(Frame, owner) == 70);
        return nullptr;
    }
};

using CPython = CPython312;

}  // namespace guardtree
#endif
