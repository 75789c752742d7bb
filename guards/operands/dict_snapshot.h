// The operand of dict_version: a dict and its state when the guard was built.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "operand.h"

namespace guardtree {

/// A dict, and how it was; it, its keys and its values are held. Where CPython keeps a
/// complete version of dicts (3.11) the version is compared; elsewhere the addresses of
/// keys and values in order are, so the check is linear there.
struct DictSnapshot {
    PyObject* dict = nullptr;
    uint64_t state = 0;  ///< a version, or the address of a tuple

    static constexpr OperandForm form = OperandForm::state;
    static constexpr const char* annotation = "dict[Any, Any]";  // in stubs
    static constexpr const char* expects = "a dict (not of a subclass)";
    static bool read(PyObject* from, DictSnapshot& to, References& keep,
                     Diagnostic& problem);

    /// `value` is the dict, and it is as it was: same keys and values, by identity, in
    /// the same order. Runs no user code.
    bool matches(PyObject* value) const noexcept;
};

bool same(const DictSnapshot& a, const DictSnapshot& b) noexcept;
size_t hash_of(const DictSnapshot& a) noexcept;
std::string text_of(const DictSnapshot& a);

inline Owned<> object_of(const DictSnapshot& a) noexcept {
    return Owned<>::share(a.dict);
}

}  // namespace guardtree
