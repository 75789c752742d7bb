// CPython 3.11: its frame layout and private entry points. The caller clears the frame.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "../compiler.h"
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
#    include <internal/pycore_code.h>
#    include <internal/pycore_dict.h>
#    include <internal/pycore_frame.h>
#    include <internal/pycore_interp.h>
#    include <internal/pycore_object.h>
#    include <internal/pycore_pystate.h>

#    include <cstddef>
#    include <cstdint>

#    include "../dict_event.h"
#    include "../ref.h"

namespace guardtree {

struct CPython311 {
    using Frame = _PyInterpreterFrame;

    static constexpr const char* series = "3.11";

    /// Bits of `co_localspluskinds` (Include/internal/pycore_code.h).
    static constexpr unsigned char kind_hidden = 0;
    static constexpr unsigned char kind_local = CO_FAST_LOCAL;
    static constexpr unsigned char kind_cell = CO_FAST_CELL;
    static constexpr unsigned char kind_free = CO_FAST_FREE;

    /// Whether the evaluator itself raises RecursionError before the C stack ends.
    static constexpr bool checks_c_stack = false;
    /// Whether a specialised constructor call runs `__init__` without calling the hook.
    static constexpr bool init_may_escape_hook = false;
    /// Whether calls go through a function's vectorcall slot. 3.11 ignores the slot
    /// when it inlines calls.
    static constexpr bool has_vectorcall_entry = false;
    static constexpr bool init_may_escape_vectorcall = false;

    static PyCodeObject* code(const Frame* frame) noexcept { return frame->f_code; }

    static PyObject* function(const Frame* frame) noexcept {
        return reinterpret_cast<PyObject*>(frame->f_func);
    }

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
        return code->co_nlocalsplus + code->co_stacksize +
               static_cast<Py_ssize_t>(FRAME_SPECIALS_SIZE);
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
        PyObject* before = as_object(frame->f_func);
        frame->f_func = reinterpret_cast<PyFunctionObject*>(function);
        return before;
    }

    /// For a hook that returns without running the frame. Does nothing, because in 3.11
    /// the caller of the hook clears the frame (_PyEval_Vector, Python/ceval.c).
    static void clear_and_pop(PyThreadState*, Frame*) noexcept {}

    static void set_vectorcall(PyFunctionObject*, vectorcallfunc) noexcept {}

    static bool is_tracing(PyThreadState* thread) noexcept {
        return thread->tracing > 0;
    }

    /// Takes the pending exception, normalised and with its traceback. Null if there is
    /// none.
    static PyObject* take_exception() noexcept {
        PyObject* type = nullptr;
        PyObject* value = nullptr;
        PyObject* traceback = nullptr;
        PyErr_Fetch(&type, &value, &traceback);
        if (!type) return nullptr;
        PyErr_NormalizeException(&type, &value, &traceback);
        if (traceback) PyException_SetTraceback(value, traceback);
        Py_XDECREF(type);
        Py_XDECREF(traceback);
        return value;
    }

    /// Makes `exception` the pending one. Steals the reference, which may be null.
    static void raise_taken(PyObject* exception) noexcept {
        if (!exception) return;
        PyObject* type = Py_NewRef(as_object(Py_TYPE(exception)));
        PyErr_Restore(type, exception, PyException_GetTraceback(exception));
    }

    static Py_ssize_t request_code_extra_index(freefunc release) noexcept {
        return _PyEval_RequestCodeExtraIndex(release);
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
        return _PyCode_SetExtra(reinterpret_cast<PyObject*>(code), index, extra) == 0;
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
        return Py_XNewRef(type->tp_dict);
    }

    /// The version tag of a dict. Each change replaces it and no tag is used twice, so
    /// equal tags mean equal contents (DICT_NEXT_VERSION, Objects/dictobject.c).
    /// Complete in 3.11: creating an instance's dict moves the values into it.
    static uint64_t dict_version(PyObject* dict) noexcept {
        return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
    }

    /// 3.11 has no dict watchers.
    static int add_dict_watcher(DictWatcher) noexcept { return -1; }

    static void clear_dict_watcher(int) noexcept {}

    static bool watch_dict(int, PyObject*) noexcept { return false; }

    static void unwatch_dict(int, PyObject*) noexcept {}

    static bool hides_stores(PyObject*) noexcept { return false; }

    /// The word that each change replaces, which dict_version reads. It is stored in
    /// the dict.
    static const uint64_t* dict_tag(PyObject* dict) noexcept {
        return &reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
    }

    /// The remaining numbers of an exact range_iterator: `length` numbers from `start`.
    static void range_left(PyObject* iterator, long& start, long& step,
                           long& length) noexcept {
        struct RangeIterator {  // rangeiterobject, Objects/rangeobject.c
            PyObject head;
            long index, start, step, length;
        };

        const auto* range = reinterpret_cast<const RangeIterator*>(iterator);
        step = range->step;
        length = range->length - range->index;
        // Unsigned, because the start may wrap if nothing is left.
        start = static_cast<long>(static_cast<unsigned long>(range->start) +
                                  static_cast<unsigned long>(range->index) *
                                      static_cast<unsigned long>(step));
    }

    /// The tuple of an exact tuple_iterator, and the next index. Null if the iterator
    /// is exhausted.
    static PyObject* tuple_left(PyObject* iterator, Py_ssize_t& index) noexcept {
        struct TupleIterator {  // tupleiterobject, Objects/tupleobject.c
            PyObject head;
            Py_ssize_t index;
            PyObject* tuple;
        };

        const auto* left = reinterpret_cast<const TupleIterator*>(iterator);
        index = left->index;
        return left->tuple;
    }

    /// Null if the headers that this was built with describe the running CPython,
    /// otherwise a message. 3.11 publishes no offsets. They are fixed here at compile
    /// time, and probe.cpp reads a live frame when the module loads.
    static const char* layout_mismatch() noexcept {
        static_assert(offsetof(Frame, localsplus) == 72);
        static_assert(offsetof(Frame, f_code) == 32);
        static_assert(offsetof(Frame, f_func) == 0);
        static_assert(offsetof(Frame, f_globals) == 8);
        static_assert(offsetof(Frame, prev_instr) == 56);
        static_assert(offsetof(Frame, owner) == 69);
        return nullptr;
    }
};

using CPython = CPython311;

}  // namespace guardtree
#endif
