// The operand of dict_version: a dict and the state it had when the guard was built.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "operand.h"

namespace guardtree {

/// A dict and its recorded state. The operand holds the dict, its keys and its values.
/// If CPython keeps a complete version of dicts (3.11), a check compares that version.
/// Otherwise it compares the addresses of keys and values in order, which is linear.
struct DictSnapshot {
    PyObject* dict = nullptr;
    uint64_t state = 0;  ///< a version, or the address of a tuple of keys and values

    static constexpr OperandForm form = OperandForm::state;
    static constexpr const char* annotation = "dict[Any, Any]";  // in stubs
    static constexpr const char* expects = "a dict (not of a subclass)";
    static bool read(PyObject* from, DictSnapshot& to, References& keep,
                     Diagnostic& problem);

    /// Whether `value` is the dict in its recorded state: same keys and values, by
    /// identity, in the same order. Runs no user code.
    bool matches(PyObject* value) const noexcept;
};

bool same(const DictSnapshot& a, const DictSnapshot& b) noexcept;
size_t hash_of(const DictSnapshot& a) noexcept;
std::string text_of(const DictSnapshot& a);

inline Owned<> object_of(const DictSnapshot& a) noexcept {
    return Owned<>::share(a.dict);
}

}  // namespace guardtree
