// Views of the C interface: created and destroyed in the client's memory.
// SPDX-License-Identifier: MIT
#include "../framelocals/cpython/cpython.h"

#include <concepts>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "../framelocals/views/frame_view.h"
#include "../framelocals/views/slots_view.h"
#include "../guards/lookup/lookup.h"

#include "handles.h"

namespace guardtree {
namespace {

/// A view and the objects that it borrows from. Only frames are kept alive by the
/// client.
template <class V>
struct Scoped {
    template <class... Arguments>
    explicit Scoped(OwnedScope owned, Arguments&&... arguments) noexcept
        : held(std::move(owned)),
          scope(held.function ? scope_of_call(reinterpret_cast<PyFunctionObject*>(
                                    held.function.get()))
                              : Scope{.code = held.code.get()}),
          view(made(std::forward<Arguments>(arguments)...)) {}

    OwnedScope held;
    Scope scope;
    V view;

private:
    template <class... Arguments>
    V made(Arguments&&... arguments) noexcept {
        if constexpr (std::same_as<V, ArgumentsView>)
            return V(reinterpret_cast<PyFunctionObject*>(held.function.get()),
                     std::forward<Arguments>(arguments)...);
        else
            return V(scope, std::forward<Arguments>(arguments)...);
    }
};

static_assert(sizeof(FrameView) <= HeldView::room);
static_assert(sizeof(Scoped<SlotsView>) <= HeldView::room);
static_assert(sizeof(Scoped<MappingView>) <= HeldView::room);
static_assert(sizeof(Scoped<ArgumentsView>) <= HeldView::room);

/// Prepares the client's memory for a new view. Null if the old one is in use.
HeldView* begin(guardtree_view* view) noexcept {
    HeldView* held = HeldView::of(view);
    if (held->is_made()) {
        if (held->users) return nullptr;
        held->end();
    }
    return new (held) HeldView;
}

template <class V>
V& in(HeldView& held) noexcept {
    return *std::launder(reinterpret_cast<V*>(held.storage));
}

/// Creates a view there, with the objects that it borrows from.
template <class V, class... Arguments>
V& put(HeldView& held, HeldView::Kind kind, Arguments&&... arguments) noexcept {
    auto* made = new (held.storage) Scoped<V>(std::forward<Arguments>(arguments)...);
    held.kind = kind;
    held.view = &made->view;
    held.set_made();
    return made->view;
}

/// Checks the client's storage. Returns GUARDTREE_HIT, or a result that says what is
/// wrong.
int check_storage(PyObject** storage, size_t size, PyCodeObject* code) noexcept {
    const auto wanted = static_cast<size_t>(code->co_nlocalsplus);
    if (size < wanted) return GUARDTREE_TOO_SMALL;
    return wanted && !storage ? GUARDTREE_NULL : GUARDTREE_HIT;
}

std::span<SlotWord> words_of(PyObject** storage, PyCodeObject* code) noexcept {
    return {reinterpret_cast<SlotWord*>(storage),
            static_cast<size_t>(code->co_nlocalsplus)};
}

/// Cleans up a view that could not be made.
int give_up(HeldView& held, int answer) noexcept {
    const ExceptionPause pause;
    held.end();
    return answer;
}

}  // namespace

void HeldView::end() noexcept {
    if (users) {
        is_ending = true;
        return;
    }
    mark = 0;
    is_ending = false;
    // Releasing references may run user code, which finds no valid view here any more.
    switch (kind) {
    case Kind::frame: in<FrameView>(*this).~FrameView(); break;
    case Kind::slots: std::destroy_at(&in<Scoped<SlotsView>>(*this)); break;
    case Kind::mapping: std::destroy_at(&in<Scoped<MappingView>>(*this)); break;
    case Kind::arguments: std::destroy_at(&in<Scoped<ArgumentsView>>(*this)); break;
    }
}

namespace c_functions {

int view_of_frame(guardtree_view* view, _PyInterpreterFrame* frame) {
    if (!view || !frame) return GUARDTREE_NULL;
    HeldView* held = begin(view);
    if (!held) return GUARDTREE_NO_VIEW;
    if (!CPython::at_start(frame, CPython::code(frame))) return GUARDTREE_STARTED;
    held->view = new (held->storage) FrameView(frame);
    held->set_made();
    return GUARDTREE_HIT;
}

int view_of_locals(guardtree_view* view, PyObject* scope, PyObject* const* locals,
                   size_t count) {
    if (!view || !scope || (count && !locals)) return GUARDTREE_NULL;
    HeldView* held = begin(view);
    if (!held) return GUARDTREE_NO_VIEW;
    OwnedScope owned;
    if (!OwnedScope::of(scope, owned)) return GUARDTREE_EXCEPTION;
    if (count < static_cast<size_t>(owned.code.get()->co_nlocalsplus))
        return GUARDTREE_TOO_SMALL;
    put<SlotsView>(*held, HeldView::Kind::slots, std::move(owned), locals);
    return GUARDTREE_HIT;
}

int view_of_call(guardtree_view* view, PyObject* function, PyObject* const* arguments,
                 size_t count, PyObject* names, PyObject** storage, size_t size) {
    if (!view || !function || (PyVectorcall_NARGS(count) && !arguments))
        return GUARDTREE_NULL;
    HeldView* held = begin(view);
    if (!held) return GUARDTREE_NO_VIEW;
    if (!PyFunction_Check(function) || (names && !PyTuple_Check(names))) {
        PyErr_SetString(
            PyExc_TypeError,
            "view_of_call: expected a Python function, and a tuple of names "
            "or NULL");
        return GUARDTREE_EXCEPTION;
    }
    OwnedScope owned;
    OwnedScope::of(function, owned);
    PyCodeObject* code = owned.code.get();
    const int storage_answer = check_storage(storage, size, code);
    if (storage_answer != GUARDTREE_HIT) return storage_answer;
    auto& made = put<ArgumentsView>(*held, HeldView::Kind::arguments, std::move(owned),
                                    words_of(storage, code));
    bool is_bound = false;
    {
        const UserCode user_code;
        const ViewUse use(*held);
        is_bound = made.bind(arguments, count, names);
    }
    if (is_bound) return GUARDTREE_HIT;
    return give_up(*held, PyErr_Occurred() ? GUARDTREE_EXCEPTION : GUARDTREE_MISFIT);
}

int view_of_mapping(guardtree_view* view, const guardtree_table* table,
                    PyObject* mapping, PyObject** storage, size_t size) {
    if (!view || !table || !mapping) return GUARDTREE_NULL;
    HeldView* held = begin(view);
    if (!held) return GUARDTREE_NO_VIEW;
    if (!PyMapping_Check(mapping)) {
        PyErr_Format(PyExc_TypeError,
                     "view_of_mapping: expected a mapping of names to values, found %s",
                     Py_TYPE(mapping)->tp_name);
        return GUARDTREE_EXCEPTION;
    }
    if (table->code.is_dead()) return GUARDTREE_OTHER_CODE;
    PyObject* const function = table->function.object;
    const bool has_function = function && !table->function.is_dead();
    const auto* called = reinterpret_cast<PyFunctionObject*>(function);
    // If the function's code was replaced, its cells were replaced too.
    const bool is_same = has_function && called->func_code == table->code.object;
    OwnedScope owned;
    OwnedScope::of(is_same ? function : table->code.object, owned);
    PyCodeObject* code = owned.code.get();
    const int storage_answer = check_storage(storage, size, code);
    if (storage_answer != GUARDTREE_HIT) return storage_answer;
    const Shared<Table> entries = table->entries;
    auto& made = put<MappingView>(*held, HeldView::Kind::mapping, std::move(owned),
                                  words_of(storage, code));
    bool is_filled = false;
    {
        const UserCode user_code;
        const ViewUse use(*held);
        is_filled = made.fill(mapping, entries->names());
    }
    return is_filled ? GUARDTREE_HIT : give_up(*held, GUARDTREE_EXCEPTION);
}

void view_end(guardtree_view* view) {
    if (view && HeldView::of(view)->is_made()) HeldView::of(view)->end();
}

PyObject* frame_code(_PyInterpreterFrame* frame) {
    if (frame) return Owned<>::share(as_object(CPython::code(frame))).release();
    raise_null("frame_code");
    return nullptr;
}

}  // namespace c_functions
}  // namespace guardtree
