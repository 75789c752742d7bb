// C functions in capsules, as operands.
// SPDX-License-Identifier: MIT
#include "native_function.h"

#include <functional>

#include "foreign_function.h"

namespace guardtree {

bool NativeFunction::read_named(PyObject* from, const char* name, const char* expects,
                                NativeFunction& to, References& keep,
                                Diagnostic& problem) {
    if (!PyCapsule_IsValid(from, name)) {
        refuse_operand(problem, expects, from);
        return false;
    }
    to.capsule = from;
    to.pointer = PyCapsule_GetPointer(from, name);
    keep.push_back(Owned<>::share(from));
    return true;
}

size_t hash_of(const NativeFunction& a) noexcept {
    return std::hash<const void*>{}(a.capsule);
}

std::string text_of(const NativeFunction& a) {
    const std::string own = foreign_text(a.capsule);
    return own.empty() ? short_repr(a.capsule) : own;
}

}  // namespace guardtree
