// C functions in capsules, as operands.
// SPDX-License-Identifier: MIT
#include "native_function.h"

#include <functional>
#include <string_view>

#include "foreign_function.h"
#include "native_found.h"

namespace guardtree {

bool NativeFunction::read_named(PyObject* from, const char* name, const char* expects,
                                NativeFunction& to, References& keep,
                                Diagnostic& problem) {
    const char* telling = nullptr;
    if (std::string_view(name) == NativeCheck::name) telling = native_check_found;
    if (std::string_view(name) == NativePureCheck::name) telling = native_pure_found;
    const bool tells = telling && PyCapsule_IsValid(from, telling);
    if (!tells && !PyCapsule_IsValid(from, name)) {
        refuse_operand(problem, expects, from);
        return false;
    }
    to.capsule = from;
    to.pointer = PyCapsule_GetPointer(from, tells ? telling : name);
    if (tells) to.pointer = static_cast<const NativeFound*>(to.pointer)->function;
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
