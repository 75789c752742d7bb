// The subjects that Python checks guards on: a mapping of locals, or a callback's
// frame.
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

/// Throws TypeError if the subject is not a mapping. Not called for dicts.
void require_mapping(PyObject* subject);

/// Calls `use(view)` with a view of `subject`: a callback's frame, or a mapping of
/// locals, from which `names` are read and whose scope is `scope_of()`. A false result
/// means that a Python exception is set. User code of the guards and of the mapping
/// runs under the same conditions as in a look-up (lookup.h). `subject` is held.
template <class ScopeOf, class Use>
bool with_view(std::span<const SlotName> names, PyObject* subject, ScopeOf scope_of,
               Use use) {
    const auto held_subject = Owned<>::share(subject);
    const UserCode user_code;
    const bool is_dict = PyDict_CheckExact(subject);
    FrameHandle* const frame = is_dict ? nullptr : FrameHandle::from_python(subject);
    if (frame) {
        const Shared<KeptView> view = frame->view();
        return use(*view);
    }
    if (!is_dict && !PyDict_Check(subject)) require_mapping(subject);
    const HeldScope held = scope_of();
    // Guards without a local read no slot.
    const size_t count =
        names.empty() ? 0 : static_cast<size_t>(held.code.get()->co_nlocalsplus);
    auto* storage = reinterpret_cast<SlotWord*>(GUARDTREE_ROOM(count));
    MappingView view(held.scope, {storage, count});
    return view.fill(subject, names) && use(view);
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
