// What kinds and steps are parameterised with, and how each operand is read from
// Python.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <string>
#include <vector>

#include "../framelocals/ref.h"

namespace guardtree {

/// Why an operand, a path or a tree was refused: what was expected, what was found,
/// what to do. `exception` is the Python class that fits (borrowed, a builtin).
struct Diagnostic {
    PyObject* exception = nullptr;
    std::string message;

    explicit operator bool() const noexcept { return exception != nullptr; }
};

/// References that keep operands alive; the tree or program that holds the operands
/// owns them. Operands themselves stay trivially copyable.
using References = std::vector<Owned<>>;

/// An object compared by address. Held weakly where it can be, so that a guard on a
/// function, class or instance does not keep it alive; once it died nothing matches.
/// A bare address is never trusted: the weak reference is read on each match.
struct Identity {
    PyObject* object = nullptr;
    PyWeakReference* weak = nullptr;  ///< null: `object` is kept alive by us

    bool is(PyObject* value) const noexcept {
        return value == object && (!weak || weak->wr_object == value);
    }

    bool is_dead() const noexcept { return weak && weak->wr_object != object; }

    static constexpr const char* annotation = "object";  // in stubs
    static constexpr const char* expects = "an object";
    static bool read(PyObject* from, Identity& to, References& keep,
                     Diagnostic& problem);
};

/// An Identity that is a type.
struct TypeIdentity : Identity {
    static constexpr const char* annotation = "type";  // in stubs
    static constexpr const char* expects = "a type";
    static bool read(PyObject* from, TypeIdentity& to, References& keep,
                     Diagnostic& problem);
};

/// A constant compared by value, type by type (same_constant, constant.h). A private
/// copy: what the caller does to a list later changes nothing.
struct Constant {
    PyObject* value = nullptr;

    static constexpr const char* annotation = "object";  // in stubs
    static constexpr const char* expects =
        "a constant (None, bool, int, float, complex, str, bytes, Ellipsis, or a "
        "tuple, "
        "list, dict, set or frozenset of constants)";
    static bool read(PyObject* from, Constant& to, References& keep,
                     Diagnostic& problem);
};

/// A key of a mapping: a hashable constant with its hash.
struct Key {
    PyObject* value = nullptr;
    Py_hash_t hash = 0;

    static constexpr const char* annotation = "Hashable";  // in stubs
    static constexpr const char* expects = "a hashable constant";
    static bool read(PyObject* from, Key& to, References& keep, Diagnostic& problem);
};

/// A name: an interned str.
struct Name {
    PyObject* value = nullptr;

    static constexpr const char* annotation = "str";  // in stubs
    static constexpr const char* expects = "a name (str)";
    static bool read(PyObject* from, Name& to, References& keep, Diagnostic& problem);
};

/// Any callable, held strongly.
struct Callable {
    PyObject* value = nullptr;

    static constexpr const char* annotation = "Callable[[Any], object]";  // in stubs
    static constexpr const char* expects = "a callable";
    static bool read(PyObject* from, Callable& to, References& keep,
                     Diagnostic& problem);
};

/// A position in a sequence; negative counts from the end.
struct Index {
    Py_ssize_t value = 0;

    static constexpr const char* annotation = "int";  // in stubs
    static constexpr const char* expects = "an int";
    static bool read(PyObject* from, Index& to, References& keep, Diagnostic& problem);
};

/// A number of elements.
struct Size {
    Py_ssize_t value = 0;

    static constexpr const char* annotation = "int";  // in stubs
    static constexpr const char* expects = "an int >= 0";
    static bool read(PyObject* from, Size& to, References& keep, Diagnostic& problem);
};

/// Operands as equal text and equal meaning: what makes two ops the same op.
bool same(const Identity& a, const Identity& b) noexcept;
bool same(const Constant& a, const Constant& b) noexcept;
bool same(const Key& a, const Key& b) noexcept;

inline bool same(Name a, Name b) noexcept {
    return a.value == b.value;
}

inline bool same(Callable a, Callable b) noexcept {
    return a.value == b.value;
}

inline bool same(Index a, Index b) noexcept {
    return a.value == b.value;
}

inline bool same(Size a, Size b) noexcept {
    return a.value == b.value;
}

/// Hashes that agree with same().
size_t hash_of(const Identity& a) noexcept;
size_t hash_of(const Constant& a) noexcept;
size_t hash_of(const Key& a) noexcept;
size_t hash_of(Name a) noexcept;
size_t hash_of(Callable a) noexcept;
size_t hash_of(Index a) noexcept;
size_t hash_of(Size a) noexcept;

/// The operand as Python text, for printed trees and messages.
std::string text_of(const Identity& a);
std::string text_of(const Constant& a);
std::string text_of(const Key& a);
std::string text_of(Name a);
std::string text_of(Callable a);
std::string text_of(Index a);
std::string text_of(Size a);

/// Objects for introspection (new references; a dead Identity gives None).
Owned<> object_of(const Identity& a) noexcept;

inline Owned<> object_of(const Constant& a) noexcept {
    return Owned<>::share(a.value);
}

inline Owned<> object_of(const Key& a) noexcept {
    return Owned<>::share(a.value);
}

inline Owned<> object_of(Name a) noexcept {
    return Owned<>::share(a.value);
}

inline Owned<> object_of(Callable a) noexcept {
    return Owned<>::share(a.value);
}

Owned<> object_of(Index a) noexcept;
Owned<> object_of(Size a) noexcept;

/// `repr(object)` cut to about 120 characters; a repr that raises gives the type's
/// name. Runs user code and leaves no exception.
std::string short_repr(PyObject* object);

/// "3 (int)": what was found, for messages.
std::string found_text(PyObject* object);

/// Fills `problem` with the standard sentence of an operand that was refused.
void refuse_operand(Diagnostic& problem, const char* expects, PyObject* found);

}  // namespace guardtree
