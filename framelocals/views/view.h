// View: what guards are evaluated against. It has the raw local slots of a frame, of a
// mapping or of a call's arguments behind one interface, and builds a dict only on
// request.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <span>
#include <string>

#include "../cpython/frame_layout.h"
#include "../ref.h"

namespace guardtree {

struct DictStringEntry;

/// One word of fast locals: a pointer whose two low bits may be set. (Stack references
/// of 3.14 and later use them to mark references that are not counted; an unbound slot
/// is then 1, not 0.) Older versions never set them, so one mask serves all versions
/// (Include/internal/pycore_stackref.h).
using SlotWord = uintptr_t;

inline PyObject* slot_object(SlotWord word) noexcept {
    return reinterpret_cast<PyObject*>(word & ~SlotWord{3});
}

/// The code and namespaces of a view that is not a view of a frame.
struct Scope {
    PyCodeObject* code = nullptr;
    PyObject* globals = nullptr;   // may be null
    PyObject* builtins = nullptr;  // may be null
    PyObject* closure = nullptr;   // may be null
    PyObject* function = nullptr;  // may be null
};

/// Borrowed values by slot number. Slot i is name i of `co_localsplusnames`. A view
/// lives on the caller's stack for one look-up, needs the GIL, and must not outlive the
/// object it was made from. Reading a slot takes one load and one mask.
class View {
public:
    View(const View&) = delete;
    View& operator=(const View&) = delete;

    /// The value of a local, an argument or a cell variable (still the raw argument at
    /// entry). Null if it is unbound. Free variables have no slot of their own before
    /// the frame runs: see free_variable.
    Borrowed<> local(int slot) const noexcept { return slot_object(slots_[slot]); }

    /// The content of free variable `index` (in the order of `co_freevars`). Null if it
    /// is unbound.
    Borrowed<> free_variable(int index) const noexcept;

    /// The value of any slot, of any kind.
    Borrowed<> value(int slot) const noexcept;

    /// The dict of globals, or null if the view has none.
    Borrowed<> globals() const noexcept {
        return frame_ ? frame_globals(frame_) : scope_->globals;
    }

    /// The builtins (a dict in nearly all programs), or null if the view has none.
    Borrowed<> builtins() const noexcept;

    /// The raw words, for code that reads many of them; see slot_object.
    const SlotWord* slots() const noexcept { return slots_; }

    /// Whether nothing holds the values for this view, so that user code may destroy
    /// their owners.
    bool only_borrows() const noexcept { return only_borrows_; }

    Borrowed<PyCodeObject> code() const noexcept { return code_; }

    /// The function's tuple of cells, or null.
    Borrowed<> closure() const noexcept;

    /// The function that is called, or null if the view is not a view of a call.
    Borrowed<> function() const noexcept;

    /// The locals as a mapping, as `locals()` would return them at the first
    /// instruction. For a function this is a dict that is created on the first request
    /// and kept for the view's life. Class bodies, modules and mapping views return the
    /// mapping that they have. Null, with an exception set, if there is no memory.
    Borrowed<> f_locals() const noexcept;

    /// The mapping that f_locals() returns without creating a dict, or null.
    Borrowed<> mapping() const noexcept;

    /// 1 if f_locals() created a dict, otherwise 0.
    int dicts_built() const noexcept { return dicts_built_; }

protected:
    View(const SlotWord* slots, PyCodeObject* code) noexcept
        : slots_(slots), code_(code) {}

    /// A view of the same object as `other`, with different slots.
    View(const View& other, const SlotWord* slots) noexcept
        : slots_(slots),
          code_(other.code_),
          frame_(other.frame_),
          scope_(other.scope_),
          mapping_(other.mapping_),
          has_free_slots_(other.has_free_slots_) {}

    /// Shares the dict that `other` created, if it created one.
    void share_dict(const View& other) noexcept {
        dict_ = Owned<>::share(other.dict_.get());
    }

    ~View() = default;

    const SlotWord* slots_;
    PyCodeObject* code_;
    /// With a frame, the other data is read from it on request. Otherwise it is in
    /// `scope_`.
    const _PyInterpreterFrame* frame_ = nullptr;
    const Scope* scope_ = nullptr;
    /// The mapping of a mapping view, which f_locals() returns.
    PyObject* mapping_ = nullptr;
    /// True for a mapping view whose mapping has values for the free variables.
    bool has_free_slots_ = false;
    bool only_borrows_ = false;

private:
    mutable Owned<> dict_;
    mutable int dicts_built_ = 0;
};

/// A name and its slot, to be read by a program.
struct SlotName {
    int slot = 0;
    PyObject* name = nullptr;  // borrowed from the code object
    /// Where a dict had the name last time. Only a hint.
    mutable uint16_t place = 0;
    /// A free variable whose name an argument has, too: mappings speak for that one.
    bool is_hidden = false;
};

/// A mapping of names to values as slots. Only the names in `wanted` are looked up. The
/// view owns the values, because a mapping may return temporary objects.
class MappingView : public View {
public:
    /// The caller provides the storage: co_nlocalsplus words. `scope` must outlive the
    /// view.
    explicit MappingView(const Scope& scope, std::span<SlotWord> storage) noexcept;
    MappingView(const Scope&& scope, std::span<SlotWord> storage) = delete;
    ~MappingView();

    /// False, with an exception set, if the mapping raised an exception other than
    /// KeyError.
    bool fill(PyObject* mapping, std::span<const SlotName> wanted) noexcept;

private:
    bool fill_from_dict(PyObject* dict, std::span<const SlotName> wanted) noexcept;

    std::span<SlotWord> storage_;
};

/// An exact dict of locals as slots that own nothing, for programs that run no user
/// code. Storage as for a MappingView, but only the slots of `wanted` are written.
class DictView : public View {
public:
    DictView(const Scope& scope, SlotWord* storage) noexcept
        : View(storage, scope.code) {
        scope_ = &scope;
    }

    DictView(const Scope&& scope, SlotWord* storage) = delete;

    /// False where a MappingView has to look: a free variable is hidden, or a name lies
    /// neither where it lay last nor among the first keys of a large dict. Runs no user
    /// code; about 1 ns for a name.
    bool fill(PyObject* dict, std::span<const SlotName> wanted) noexcept;

    /// Whether a free variable has its value from the dict.
    bool has_free_slots() const noexcept { return has_free_slots_; }

private:
    static constexpr Py_ssize_t first_keys = 16;
    static constexpr uint16_t no_place = UINT16_MAX;
    static constexpr uint16_t absent = UINT16_MAX - 1;

    /// The place of a name that has moved, or whose key is another str with the same
    /// text. `absent` if the dict has only the first keys, and none is the name.
    static uint16_t find(const DictStringEntry* entries, Py_ssize_t count,
                         const SlotName& wanted) noexcept;
};

/// The argument vector of a call (PEP 590) as slots: positional arguments, keywords,
/// defaults, `*args` and `**kwargs` are bound as the callee would bind them.
class ArgumentsView : public View {
public:
    /// The caller provides the storage: co_nlocalsplus words.
    ArgumentsView(PyFunctionObject* function, std::span<SlotWord> storage) noexcept;

    /// Binds `arguments` (count and PY_VECTORCALL_ARGUMENTS_OFFSET as in PEP 590).
    /// False if the call does not match the signature, so that the callee itself would
    /// raise TypeError. Allocates only for a function with `*args`, `**kwargs` or
    /// keyword-only defaults; in that case false may also mean that an exception is
    /// set.
    bool bind(PyObject* const* arguments, size_t count, PyObject* keywords) noexcept;

    /// Says that the caller keeps the bound arguments alive as long as this view. Since
    /// the view holds the defaults itself, it then does not only borrow.
    void arguments_are_held() noexcept { only_borrows_ = false; }

private:
    /// `guess`: the slot of the first, in a call that keeps the order.
    bool bind_keywords(PyObject* const* values, PyObject* names, int guess) noexcept;
    bool bind_defaults(int taken) noexcept;
    Borrowed<> keyword_default(int slot) noexcept;

    std::span<SlotWord> storage_;
    PyFunctionObject* function_;
    Scope callee_;
    Owned<> rest_;
    Owned<> keywords_;
    Owned<> defaults_;  ///< the tuple, because user code may replace the function's
    Owned<> named_;     ///< a tuple of the keyword-only defaults that were used
};

/// The slot number of `name` in `code`, or -1.
int find_slot(PyCodeObject* code, PyObject* name) noexcept;

/// The slot number of the first free variable of `code`.
inline int first_free_slot(PyCodeObject* code) noexcept {
    return code->co_nlocalsplus - code->co_nfreevars;
}

/// Whether CPython itself leaves a slot out of locals(): the variable of a
/// comprehension that was inlined into a module or class body (3.12 and later).
bool is_hidden_slot(PyCodeObject* code, int slot) noexcept;

/// The number of dicts that views have created in this process. Tests use it to prove
/// that a hot path creates none.
uint64_t dicts_built() noexcept;

}  // namespace guardtree
