// The operand of type_version: a type and the version tag it had when the guard was
// built.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "operand.h"

namespace guardtree {

/// A type, held weakly, and its version tag. CPython clears the tag when the type or a
/// base changes, and never assigns a tag twice. A type without a tag is refused: it
/// never gets another one after all 2**32 tags, or 1000 by the type itself (3.13 and
/// later), are used.
struct VersionedType {
    PyWeakReference* weak = nullptr;
    unsigned tag = 0;

    static constexpr OperandForm form = OperandForm::state;
    static constexpr const char* annotation = "type";  // in stubs
    static constexpr const char* expects = "a type";
    static bool read(PyObject* from, VersionedType& to, References& keep,
                     Diagnostic& problem);

    bool matches(PyObject* value) const noexcept {
        return value == weak->wr_object && PyType_Check(value) &&
               reinterpret_cast<PyTypeObject*>(value)->tp_version_tag == tag;
    }

    bool is_dead() const noexcept { return weak->wr_object == Py_None; }
};

inline bool same(const VersionedType& a, const VersionedType& b) noexcept {
    return a.weak == b.weak && a.tag == b.tag;
}

size_t hash_of(const VersionedType& a) noexcept;
std::string text_of(const VersionedType& a);
Owned<> object_of(const VersionedType& a) noexcept;

}  // namespace guardtree
