// The parameters of kinds and steps, and how each is read from Python.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../../framelocals/ref.h"
#include "../objects/constant.h"
#include "../objects/dict_lookup.h"
#include "../objects/references.h"
#include "../text/diagnostic.h"
#include "../text/object_text.h"

namespace guardtree {

/// How an operand is written, as text and in JSON.
enum class OperandForm : uint8_t {
    constant,   ///< its value
    name,       ///< the name of an attribute or a variable, without quotes
    kinds,      ///< conditions of inner kinds on the same value
    reference,  ///< an object, by its qualified name
    code,       ///< a reference to an object that the check calls
    state,  ///< a reference to an object in the state it had when the guard was built
};

template <class T>
constexpr OperandForm form_of = [] {
    if constexpr (requires { T::form; }) {
        return T::form;
    } else {
        return OperandForm::constant;
    }
}();

/// An object compared by address. It is held weakly if possible, so that a guard on a
/// function, class or instance does not keep it alive. After it dies nothing matches.
/// The address alone is never trusted: each match also reads the weak reference.
struct Identity {
    PyObject* object = nullptr;
    PyWeakReference* weak = nullptr;  ///< null if the operand holds `object` strongly

    bool is(PyObject* value) const noexcept {
        return value == object && (!weak || weak->wr_object == value);
    }

    bool is_dead() const noexcept { return weak && weak->wr_object != object; }

    static constexpr OperandForm form = OperandForm::reference;
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

/// A constant, compared by value and exact type (same_constant, constant.h). It is a
/// private copy, so later changes of the caller's list have no effect.
struct Constant {
    PyObject* value = nullptr;

    static constexpr const char* annotation = "object";  // in stubs
    static constexpr const char* expects = what_constants_are;
    static bool read(PyObject* from, Constant& to, References& keep,
                     Diagnostic& problem);
};

/// A key of a mapping: a hashable constant with its hash.
struct Key : HashedKey {
    static constexpr const char* annotation = "Hashable";  // in stubs
    static constexpr const char* expects = "a hashable constant";
    static bool read(PyObject* from, Key& to, References& keep, Diagnostic& problem);
};

/// A name: an interned str.
struct Name {
    PyObject* value = nullptr;

    static constexpr OperandForm form = OperandForm::name;
    static constexpr const char* annotation = "str";  // in stubs
    static constexpr const char* expects = "a name (str)";
    static bool read(PyObject* from, Name& to, References& keep, Diagnostic& problem);
};

/// The name of an attribute: an interned str with its hash. `getattr` takes no other.
struct HashedName : Key {
    static constexpr const char* annotation = "str";  // in stubs
    static constexpr const char* expects = Name::expects;
    static bool read(PyObject* from, HashedName& to, References& keep,
                     Diagnostic& problem);
};

/// Any callable, held strongly.
struct Callable {
    PyObject* value = nullptr;

    static constexpr OperandForm form = OperandForm::code;
    static constexpr const char* annotation = "Callable[[Any], object]";  // in stubs
    static constexpr const char* expects = "a callable";
    static bool read(PyObject* from, Callable& to, References& keep,
                     Diagnostic& problem);
};

/// An object compared by address and held strongly.
struct Held {
    PyObject* value = nullptr;

    static constexpr OperandForm form = OperandForm::reference;
    static constexpr const char* annotation = "object";  // in stubs
    static constexpr const char* expects = "an object";
    static bool read(PyObject* from, Held& to, References& keep, Diagnostic& problem);
};

/// A contextvars.ContextVar, compared by address and held strongly.
struct Variable : Held {
    static constexpr const char* annotation = "object";  // in stubs
    static constexpr const char* expects = "a contextvars.ContextVar";
    static bool read(PyObject* from, Variable& to, References& keep,
                     Diagnostic& problem);
};

/// A text: an exact str, interned. Unlike a Name, it prints with quotes.
struct Text {
    PyObject* value = nullptr;

    static constexpr const char* annotation = "str";  // in stubs
    static constexpr const char* expects = "a str";
    static bool read(PyObject* from, Text& to, References& keep, Diagnostic& problem);
};

/// Constants in order: a private copy, as a tuple.
struct Constants {
    PyObject* value = nullptr;

    static constexpr const char* annotation = "tuple[object, ...]";  // in stubs
    static constexpr const char* expects = "a tuple of constants";
    static bool read(PyObject* from, Constants& to, References& keep,
                     Diagnostic& problem);
};

/// Constants in any order: a private copy, as a frozenset.
struct ConstantSet {
    PyObject* value = nullptr;

    static constexpr const char* annotation =
        "set[object] | frozenset[object]";  // in stubs
    static constexpr const char* expects = "a set or frozenset of constants";
    static bool read(PyObject* from, ConstantSet& to, References& keep,
                     Diagnostic& problem);
};

/// A 64-bit int.
struct Int {
    int64_t value = 0;

    static constexpr const char* annotation = "int";  // in stubs
    static constexpr const char* expects = "an int of 64 bits";
    static bool read(PyObject* from, Int& to, References& keep, Diagnostic& problem);
};

/// An Int other than 0.
struct Divisor : Int {
    static constexpr const char* annotation = "int";  // in stubs
    static constexpr const char* expects = "a 64-bit int other than 0";
    static bool read(PyObject* from, Divisor& to, References& keep,
                     Diagnostic& problem);
};

/// -1, 0 or 1.
struct Sign : Int {
    static constexpr const char* annotation = "Literal[-1, 0, 1]";  // in stubs
    static constexpr const char* expects = "-1, 0 or 1";
    static bool read(PyObject* from, Sign& to, References& keep, Diagnostic& problem);
};

/// A position in a sequence; negative counts from the end.
struct Index {
    Py_ssize_t value = 0;

    static constexpr const char* annotation = "int";  // in stubs
    static constexpr const char* expects = "an int";
    static bool read(PyObject* from, Index& to, References& keep, Diagnostic& problem);
};

/// A number of elements.
struct Count {
    Py_ssize_t value = 0;

    static constexpr const char* annotation = "int";  // in stubs
    static constexpr const char* expects = "an int >= 0";
    static bool read(PyObject* from, Count& to, References& keep, Diagnostic& problem);
};

/// Whether two operands have the same meaning and text. Ops with the same code and the
/// same operands are the same op.
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

inline bool same(Count a, Count b) noexcept {
    return a.value == b.value;
}

inline bool same(Held a, Held b) noexcept {
    return a.value == b.value;
}

inline bool same(Text a, Text b) noexcept {
    return a.value == b.value;
}

inline bool same(Int a, Int b) noexcept {
    return a.value == b.value;
}

bool same(Constants a, Constants b) noexcept;
bool same(ConstantSet a, ConstantSet b) noexcept;

/// Hashes consistent with same().
size_t hash_of(const Identity& a) noexcept;
size_t hash_of(const Constant& a) noexcept;
size_t hash_of(const Key& a) noexcept;
size_t hash_of(Name a) noexcept;
size_t hash_of(Callable a) noexcept;
size_t hash_of(Index a) noexcept;
size_t hash_of(Count a) noexcept;

size_t hash_of(Held a) noexcept;
size_t hash_of(Text a) noexcept;
size_t hash_of(Constants a) noexcept;
size_t hash_of(ConstantSet a) noexcept;
size_t hash_of(Int a) noexcept;

/// The operand as Python text, for printed trees and messages. The text evaluates to
/// the operand if such a text exists: constants in full (constant_text), types,
/// functions and builtins by name.
std::string text_of(const Identity& a);
std::string text_of(const Constant& a);
std::string text_of(const Key& a);
std::string text_of(Name a);
std::string text_of(Callable a);
std::string text_of(Index a);
std::string text_of(Count a);
std::string text_of(Held a);
std::string text_of(Text a);
std::string text_of(Constants a);
std::string text_of(ConstantSet a);
std::string text_of(Int a);

/// The operand as an object, for introspection. A new reference; None for a dead
/// Identity.
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

inline Owned<> object_of(Held a) noexcept {
    return Owned<>::share(a.value);
}

inline Owned<> object_of(Text a) noexcept {
    return Owned<>::share(a.value);
}

inline Owned<> object_of(Constants a) noexcept {
    return Owned<>::share(a.value);
}

inline Owned<> object_of(ConstantSet a) noexcept {
    return Owned<>::share(a.value);
}

Owned<> object_of(Int a) noexcept;
Owned<> object_of(Index a) noexcept;
Owned<> object_of(Count a) noexcept;

}  // namespace guardtree
