// View: what guards are evaluated against. Raw local slots of a frame, of a mapping or
// of a call's arguments, behind one interface that never builds a dict unless it is
// asked to.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../cpython/frame_layout.h"
#include "../ref.h"

namespace guardtree {

struct DictStringEntry;

/// One word of fast locals: a pointer whose two low bits may be set (stack references
/// of 3.14 and later mark what they do not count; an unbound slot is then 1, not 0).
/// Older versions never set them, so one mask serves all
/// (Include/internal/pycore_stackref.h).
using SlotWord = uintptr_t;

inline PyObject* slot_object(SlotWord word) noexcept {
    return reinterpret_cast<PyObject*>(word & ~SlotWord{3});
}

/// What a view over something else than a frame is read for.
struct Scope {
    PyCodeObject* code = nullptr;
    PyObject* globals = nullptr;   // may be null
    PyObject* builtins = nullptr;  // may be null
    PyObject* closure = nullptr;   // may be null
    PyObject* function = nullptr;  // may be null
};

/// Borrowed values by slot number; slot i is name i of `co_localsplusnames`. Lives on
/// the caller's stack for one lookup, needs the GIL, and must not outlive what it was
/// made of. Reading a slot is one load and one mask.
class View {
public:
    View(const View&) = delete;
    View& operator=(const View&) = delete;

    /// Value of a local, an argument or a cell (still raw at entry); null when unbound.
    /// Free variables have no slot of their own before the frame runs: see
    /// free_variable.
    Borrowed<> local(int slot) const noexcept { return slot_object(slots_[slot]); }

    /// Content of free variable `index` (order of `co_freevars`); null when unbound.
    Borrowed<> free_variable(int index) const noexcept;

    /// Value of any slot, whatever its kind.
    Borrowed<> value(int slot) const noexcept;

    /// The dict of globals, or null where the view has none.
    Borrowed<> globals() const noexcept {
        return frame_ ? frame_globals(frame_) : scope_->globals;
    }

    /// The builtins (a dict in all but exotic programs), or null where the view has
    /// none.
    Borrowed<> builtins() const noexcept;

    /// The raw words, for walks over many of them; see slot_object.
    const SlotWord* slots() const noexcept { return slots_; }

    /// Nobody holds the values on its behalf: user code may end whatever does.
    bool only_borrows() const noexcept { return only_borrows_; }

    Borrowed<PyCodeObject> code() const noexcept { return code_; }

    /// The function's tuple of cells, or null.
    Borrowed<> closure() const noexcept;

    /// The function that is called, or null where the view is not of a call.
    Borrowed<> function() const noexcept;

    /// The locals as a mapping, as `locals()` would give them at the first instruction.
    /// For a function it is a dict made at the first request and kept for the view's
    /// life; class bodies, modules and mapping views give the mapping they have. Null
    /// with an exception set when there is no memory.
    Borrowed<> f_locals() const noexcept;

    /// What f_locals() gives without building, or null.
    Borrowed<> mapping() const noexcept;

    /// 1 when f_locals() made a dict, else 0.
    int dicts_built() const noexcept { return dicts_built_; }

protected:
    View(const SlotWord* slots, PyCodeObject* code) noexcept
        : slots_(slots), code_(code) {}

    /// What `other` is a view of, with slots of its own.
    View(const View& other, const SlotWord* slots) noexcept
        : slots_(slots),
          code_(other.code_),
          frame_(other.frame_),
          scope_(other.scope_),
          mapping_(other.mapping_),
          has_free_slots_(other.has_free_slots_) {}

    /// The dict that `other` built, if it built one, is this one's.
    void share_dict(const View& other) noexcept {
        dict_ = Owned<>::share(other.dict_.get());
    }

    ~View() = default;

    const SlotWord* slots_;
    PyCodeObject* code_;
    /// With a frame, the rest is read from it when somebody asks; else `scope_` has it.
    const _PyInterpreterFrame* frame_ = nullptr;
    const Scope* scope_ = nullptr;
    /// What f_locals() gives without building: a mapping view's mapping.
    PyObject* mapping_ = nullptr;
    /// A mapping view whose mapping speaks for the free variables.
    bool has_free_slots_ = false;
    bool only_borrows_ = false;

private:
    mutable Owned<> dict_;
    mutable int dicts_built_ = 0;
};

/// Names and slots that somebody wants to read (a program knows its own).
struct SlotName {
    int slot = 0;
    PyObject* name = nullptr;  // borrowed from the code object
    /// Where a dict had the name last: a guess, which decides nothing.
    mutable uint16_t place = 0;
};

/// A mapping of names to values seen as slots. Only the names in `wanted` are looked
/// up; the values are owned while the view lives, since a mapping may give temporaries.
class MappingView : public View {
public:
    /// Storage that the caller provides: co_nlocalsplus words.
    /// `scope` outlives the view.
    explicit MappingView(const Scope& scope, std::span<SlotWord> storage) noexcept;
    MappingView(const Scope&& scope, std::span<SlotWord> storage) = delete;
    ~MappingView();

    /// False with an exception set when the mapping raised something else than
    /// KeyError.
    bool fill(PyObject* mapping, std::span<const SlotName> wanted) noexcept;

private:
    std::span<SlotWord> storage_;
};

/// An exact dict of locals seen as slots that own nothing: for programs that run no
/// user code. Storage as for a MappingView, but only the slots that are filled are
/// written.
class DictView : public View {
public:
    DictView(const Scope& scope, SlotWord* storage) noexcept
        : View(storage, scope.code) {
        scope_ = &scope;
    }

    DictView(const Scope&& scope, SlotWord* storage) = delete;

    /// False where a MappingView has to look: a free variable is wanted, or a name lies
    /// neither where it lay last nor among the dict's first keys. Runs no user code;
    /// about 1 ns for a name.
    bool fill(PyObject* dict, std::span<const SlotName> wanted) noexcept;

private:
    static constexpr uint16_t no_place = UINT16_MAX;

    /// Where a name lies whose key is another str with the same text, or that moved.
    static uint16_t find(const DictStringEntry* entries, Py_ssize_t count,
                         const SlotName& wanted) noexcept;
};

/// The argument vector of a call (PEP 590) seen as slots: positional arguments,
/// keywords, defaults, `*args` and `**kwargs` bound as the callee would bind them.
class ArgumentsView : public View {
public:
    /// Storage that the caller provides: co_nlocalsplus words.
    ArgumentsView(PyFunctionObject* function, std::span<SlotWord> storage) noexcept;

    /// Binds `arguments` (count and PY_VECTORCALL_ARGUMENTS_OFFSET as in PEP 590).
    /// False when the call does not fit the signature: the callee itself would raise
    /// TypeError. Allocates only for a function with `*args`, `**kwargs` or
    /// keyword-only defaults; then false may also mean that an exception is set.
    bool bind(PyObject* const* arguments, size_t count, PyObject* keywords) noexcept;

    /// The caller keeps the arguments that it binds as long as this: with the defaults,
    /// which are held here, nothing is only borrowed.
    void arguments_are_held() noexcept { only_borrows_ = false; }

private:
    bool bind_keywords(PyObject* const* values, PyObject* names) noexcept;
    bool bind_defaults() noexcept;

    std::span<SlotWord> storage_;
    PyFunctionObject* function_;
    Scope callee_;
    Owned<> rest_;
    Owned<> keywords_;
    Owned<> defaults_;  ///< the tuple: user code may give the function another
    std::vector<Owned<>> named_;  ///< keyword-only defaults that were used
};

/// Slot number of `name` in `code`, or -1.
int find_slot(PyCodeObject* code, PyObject* name) noexcept;

/// Where the free variables of `code` begin in its slots.
inline int first_free_slot(PyCodeObject* code) noexcept {
    return code->co_nlocalsplus - code->co_nfreevars;
}

/// True for a slot that CPython itself keeps out of locals(): the variable of a
/// comprehension that was inlined into a module or class body (3.12 and later).
bool is_hidden_slot(PyCodeObject* code, int slot) noexcept;

/// Dicts that views have built in this process: the counter that proves a hot path
/// built none.
uint64_t dicts_built() noexcept;

}  // namespace guardtree
