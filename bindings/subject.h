// The subjects that Python checks guards on: a mapping of locals, a callback's frame,
// or the value of the only local that the guards read.
// SPDX-License-Identifier: MIT
#pragma once
#include <pybind11/pybind11.h>

#include "../guards/lookup/lookup.h"

#include "frame.h"
#include "guard_manager.h"

namespace guardtree {

/// The scope of a mapping view, with strong references, because user code may release
/// the function in the meantime.
struct HeldScope {
    explicit HeldScope(PyCodeObject* guarded, PyFunctionObject* called = nullptr)
        : scope(scope_of(guarded, called)),
          code(Owned<PyCodeObject>::share(guarded)),
          function(Owned<>::share(as_object(called))) {}

    /// Throws if the code of the guards has died.
    explicit HeldScope(const GuardTree& tree)
        : HeldScope(tree.code(), tree.function()) {}

    Scope scope;
    Owned<PyCodeObject> code;
    Owned<> function;
};

/// Whether a subject that is not a dict is a mapping: it has items and `keys`. Throws
/// what reading `keys` raises, unless that is an AttributeError.
bool is_mapping(PyObject* subject);

/// Throws the TypeError for a subject that is neither a frame nor a mapping.
[[noreturn]] void refuse_subject(PyObject* subject);

/// Calls `use(view)` with a view of `subject`: a callback's frame, or a mapping of
/// locals, from which `names` are read and whose scope is `scope_of()`. With
/// `takes_value`, another object is the value of the name if there is one name. Python
/// frames are refused, because they are easily taken for a callback's. A false result
/// means that a Python exception is set. User code of the guards and of the mapping
/// runs under the same conditions as in a look-up (lookup.h). `subject` is held.
template <class ScopeOf, class Use>
bool with_view(std::span<const SlotName> names, PyObject* subject, bool takes_value,
               ScopeOf scope_of, Use use) {
    auto mapping = Owned<>::share(subject);
    const UserCode user_code;
    const bool is_dict = PyDict_Check(subject);
    FrameHandle* const frame = is_dict ? nullptr : FrameHandle::from_python(subject);
    if (frame) {
        const Shared<KeptView> view = frame->view();
        return use(*view);
    }
    if (!is_dict && !is_mapping(subject)) {
        takes_value &= names.size() == 1 && !PyFrame_Check(subject);
        if (!takes_value) refuse_subject(subject);
        mapping = Owned<>::steal(PyDict_New());
        if (!mapping || PyDict_SetItem(mapping.get(), names.front().name, subject) < 0)
            return false;
    }
    const HeldScope held = scope_of();
    // Guards without a local read no slot.
    const size_t count =
        names.empty() ? 0 : static_cast<size_t>(held.code.get()->co_nlocalsplus);
    auto* storage = reinterpret_cast<SlotWord*>(GUARDTREE_ROOM(count));
    MappingView view(held.scope, {storage, count});
    return view.fill(mapping.get(), names) && use(view);
}

/// The same for the guards of a tree, which take a value.
template <class Use>
bool with_view(const GuardTree& tree, std::span<const SlotName> names,
               PyObject* subject, Use use) {
    return with_view(
        names, subject, true, [&] { return HeldScope(tree); }, use);
}

/// The same on a dict, without references to the values, for guards that run no user
/// code. Returns false, without calling `use`, if with_view is needed.
template <class Use>
bool with_dict_view(std::span<const SlotName> names, const GuardTree& tree,
                    PyObject* dict, Use use) {
    const Scope scope = scope_of(tree.code(), tree.function());
    const size_t count =
        names.empty() ? 0 : static_cast<size_t>(scope.code->co_nlocalsplus);
    DictView view(scope, reinterpret_cast<SlotWord*>(GUARDTREE_ROOM(count)));
    if (!view.fill(dict, names)) return false;
    use(view);
    return true;
}

}  // namespace guardtree
