// Types and their version tags as operands.
// SPDX-License-Identifier: MIT
#include "versioned_type.h"

#include "../../framelocals/no_memory.h"

#include <functional>

namespace guardtree {

bool VersionedType::read(PyObject* from, VersionedType& to, References& keep,
                         Diagnostic& problem) {
    if (!PyType_Check(from)) {
        refuse_operand(problem, expects, from);
        return false;
    }
    auto* type = reinterpret_cast<PyTypeObject*>(from);
    auto weak = Owned<>::steal(PyWeakref_NewRef(from, nullptr));
    const auto name = Owned<>::steal(PyUnicode_InternFromString("__name__"));
    if (!weak || !name) {
        drop_exception();
        problem = {PyExc_MemoryError, "no memory for an operand"};
        return false;
    }
    // A look-up assigns a tag to the type, if it can have one.
    _PyType_Lookup(type, name.get());
    if (type->tp_version_tag == 0) {
        problem = {PyExc_ValueError,
                   "expected a type that can have a version tag, found " +
                       short_repr(from) +
                       ": it was changed too often; use id_match(type)"};
        return false;
    }
    to.weak = reinterpret_cast<PyWeakReference*>(weak.get());
    to.tag = type->tp_version_tag;
    keep.push_back(std::move(weak));
    return true;
}

size_t hash_of(const VersionedType& a) noexcept {
    return std::hash<const void*>{}(a.weak) ^ a.tag;
}

std::string text_of(const VersionedType& a) {
    return a.is_dead() ? "<an object that has died>"
                       : reference_text(a.weak->wr_object);
}

Owned<> object_of(const VersionedType& a) noexcept {
    return Owned<>::share(a.weak->wr_object);  // None if it has died
}

}  // namespace guardtree
