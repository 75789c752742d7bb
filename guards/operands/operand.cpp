// Reads operands from Python objects, and prints them.
// SPDX-License-Identifier: MIT
#include "operand.h"

#include <functional>

#include "../../framelocals/exception.h"
#include "../../framelocals/no_memory.h"
#include "../objects/constant.h"

namespace guardtree {
namespace {

size_t hash_pointer(const void* pointer) noexcept {
    return std::hash<const void*>{}(pointer);
}

bool keep_alive(PyObject* object, References& keep) {
    keep.push_back(Owned<>::share(object));
    return true;
}

bool read_size(PyObject* from, Py_ssize_t& to, const char* expects,
               Diagnostic& problem) {
    if (!PyLong_Check(from) || PyBool_Check(from)) {
        refuse_operand(problem, expects, from);
        return false;
    }
    to = PyLong_AsSsize_t(from);
    if (to == -1 && PyErr_Occurred()) {
        drop_exception();
        problem = {PyExc_OverflowError, "expected " + std::string(expects) +
                                            " that fits a machine word, found " +
                                            short_repr(from)};
        return false;
    }
    return true;
}

}  // namespace

bool Identity::read(PyObject* from, Identity& to, References& keep,
                    Diagnostic& problem) {
    to = {from, nullptr};
    const bool immortal_type =
        PyType_Check(from) &&
        !PyType_HasFeature(reinterpret_cast<PyTypeObject*>(from), Py_TPFLAGS_HEAPTYPE);
    if (immortal_type || !PyType_SUPPORTS_WEAKREFS(Py_TYPE(from))) {
        return keep_alive(from, keep);
    }
    auto weak = Owned<>::steal(PyWeakref_NewRef(from, nullptr));
    if (!weak) {
        drop_exception();
        problem = {PyExc_TypeError,
                   "cannot make a weak reference to " + found_text(from)};
        return false;
    }
    to.weak = reinterpret_cast<PyWeakReference*>(weak.get());
    keep.push_back(std::move(weak));
    return true;
}

bool TypeIdentity::read(PyObject* from, TypeIdentity& to, References& keep,
                        Diagnostic& problem) {
    if (!PyType_Check(from)) {
        refuse_operand(problem, expects, from);
        return false;
    }
    return Identity::read(from, to, keep, problem);
}

bool Constant::read(PyObject* from, Constant& to, References& keep,
                    Diagnostic& problem) {
    Owned<> copy = snapshot_constant(from, problem);
    if (!copy) return false;
    to.value = copy.get();
    keep.push_back(std::move(copy));
    return true;
}

bool Key::read(PyObject* from, Key& to, References& keep, Diagnostic& problem) {
    if (PyUnicode_CheckExact(from)) {
        Name name;
        if (!Name::read(from, name, keep, problem)) return false;
        to.value = name.value;
    } else {
        Owned<> copy = snapshot_constant(from, problem);
        if (!copy) return false;
        to.value = copy.get();
        keep.push_back(std::move(copy));
    }
    to.hash = PyObject_Hash(to.value);
    if (to.hash == -1) {
        drop_exception();
        refuse_operand(problem, expects, from);
        return false;
    }
    return true;
}

bool Name::read(PyObject* from, Name& to, References& keep, Diagnostic& problem) {
    if (!PyUnicode_CheckExact(from)) {
        refuse_operand(problem, expects, from);
        return false;
    }
    PyObject* name = Owned<>::share(from).release();
    PyUnicode_InternInPlace(&name);
    to.value = name;
    keep.push_back(Owned<>::steal(name));
    return true;
}

bool HashedName::read(PyObject* from, HashedName& to, References& keep,
                      Diagnostic& problem) {
    if (PyUnicode_CheckExact(from)) return Key::read(from, to, keep, problem);
    refuse_operand(problem, expects, from);
    return false;
}

bool Callable::read(PyObject* from, Callable& to, References& keep,
                    Diagnostic& problem) {
    if (!PyCallable_Check(from)) {
        refuse_operand(problem, expects, from);
        return false;
    }
    to.value = from;
    return keep_alive(from, keep);
}

bool Held::read(PyObject* from, Held& to, References& keep, Diagnostic&) {
    to.value = from;
    return keep_alive(from, keep);
}

bool Variable::read(PyObject* from, Variable& to, References& keep,
                    Diagnostic& problem) {
    if (PyContextVar_CheckExact(from)) return Held::read(from, to, keep, problem);
    refuse_operand(problem, expects, from);
    return false;
}

bool Text::read(PyObject* from, Text& to, References& keep, Diagnostic& problem) {
    Name name;
    if (!PyUnicode_CheckExact(from)) {
        refuse_operand(problem, expects, from);
        return false;
    }
    if (!Name::read(from, name, keep, problem)) return false;
    to.value = name.value;
    return true;
}

bool Constants::read(PyObject* from, Constants& to, References& keep,
                     Diagnostic& problem) {
    if (!PyTuple_CheckExact(from)) {
        refuse_operand(problem, expects, from);
        return false;
    }
    Constant copy;
    if (!Constant::read(from, copy, keep, problem)) return false;
    to.value = copy.value;
    return true;
}

bool ConstantSet::read(PyObject* from, ConstantSet& to, References& keep,
                       Diagnostic& problem) {
    if (!PySet_CheckExact(from) && !PyFrozenSet_CheckExact(from)) {
        refuse_operand(problem, expects, from);
        return false;
    }
    const auto frozen = Owned<>::steal(PyFrozenSet_New(from));
    Constant copy;
    if (!frozen) {
        drop_exception();
        problem = {PyExc_MemoryError, "no memory for a copy of a set"};
        return false;
    }
    if (!Constant::read(frozen.get(), copy, keep, problem)) return false;
    to.value = copy.value;
    return true;
}

bool Int::read(PyObject* from, Int& to, References&, Diagnostic& problem) {
    Py_ssize_t number = 0;
    static_assert(sizeof number == sizeof to.value);
    if (!read_size(from, number, "an int", problem)) return false;
    to.value = number;
    return true;
}

bool Divisor::read(PyObject* from, Divisor& to, References& keep, Diagnostic& problem) {
    if (!Int::read(from, to, keep, problem)) return false;
    if (to.value != 0) return true;
    problem = {PyExc_ValueError,
               "expected " + std::string(expects) + ", found " + short_repr(from)};
    return false;
}

bool Sign::read(PyObject* from, Sign& to, References& keep, Diagnostic& problem) {
    if (!Int::read(from, to, keep, problem)) return false;
    if (to.value >= -1 && to.value <= 1) return true;
    problem = {PyExc_ValueError,
               "expected " + std::string(expects) + ", found " + short_repr(from)};
    return false;
}

bool Index::read(PyObject* from, Index& to, References&, Diagnostic& problem) {
    return read_size(from, to.value, expects, problem);
}

bool Count::read(PyObject* from, Count& to, References&, Diagnostic& problem) {
    if (!read_size(from, to.value, expects, problem)) return false;
    if (to.value >= 0) return true;
    problem = {PyExc_ValueError,
               "expected " + std::string(expects) + ", found " + short_repr(from)};
    return false;
}

bool same(const Identity& a, const Identity& b) noexcept {
    return a.object == b.object && a.weak == b.weak;
}

bool same(const Constant& a, const Constant& b) noexcept {
    return same_constant(a.value, b.value);
}

bool same(const Key& a, const Key& b) noexcept {
    return a.hash == b.hash && same_constant(a.value, b.value);
}

bool same(Constants a, Constants b) noexcept {
    return same_constant(a.value, b.value);
}

bool same(ConstantSet a, ConstantSet b) noexcept {
    return same_constant(a.value, b.value);
}

size_t hash_of(const Identity& a) noexcept {
    return hash_pointer(a.object);
}

size_t hash_of(const Constant& a) noexcept {
    return hash_of_value(a.value);
}

size_t hash_of(const Key& a) noexcept {
    return static_cast<size_t>(a.hash);
}

size_t hash_of(Name a) noexcept {
    return hash_pointer(a.value);
}

size_t hash_of(Callable a) noexcept {
    return hash_pointer(a.value);
}

size_t hash_of(Index a) noexcept {
    return static_cast<size_t>(a.value);
}

size_t hash_of(Count a) noexcept {
    return static_cast<size_t>(a.value);
}

size_t hash_of(Held a) noexcept {
    return hash_pointer(a.value);
}

size_t hash_of(Text a) noexcept {
    return hash_pointer(a.value);
}

size_t hash_of(Constants a) noexcept {
    return hash_of_value(a.value);
}

size_t hash_of(ConstantSet a) noexcept {
    return hash_of_value(a.value);
}

size_t hash_of(Int a) noexcept {
    return static_cast<size_t>(a.value);
}

std::string text_of(const Identity& a) {
    return a.is_dead() ? "<an object that has died>" : reference_text(a.object);
}

std::string text_of(const Constant& a) {
    return constant_text(a.value);
}

std::string text_of(const Key& a) {
    return constant_text(a.value);
}

std::string text_of(Name a) {
    return utf8(a.value);
}

std::string text_of(Callable a) {
    return reference_text(a.value);
}

std::string text_of(Held a) {
    return reference_text(a.value);
}

std::string text_of(Text a) {
    return constant_text(a.value);
}

std::string text_of(Constants a) {
    return constant_text(a.value);
}

std::string text_of(ConstantSet a) {
    return constant_text(a.value);
}

std::string text_of(Int a) {
    return std::to_string(a.value);
}

std::string text_of(Index a) {
    return std::to_string(a.value);
}

std::string text_of(Count a) {
    return std::to_string(a.value);
}

Owned<> object_of(const Identity& a) noexcept {
    return Owned<>::share(a.is_dead() ? Py_None : a.object);
}

Owned<> object_of(Int a) noexcept {
    return Owned<>::steal(PyLong_FromLongLong(a.value));
}

Owned<> object_of(Index a) noexcept {
    return Owned<>::steal(PyLong_FromSsize_t(a.value));
}

Owned<> object_of(Count a) noexcept {
    return Owned<>::steal(PyLong_FromSsize_t(a.value));
}

}  // namespace guardtree
