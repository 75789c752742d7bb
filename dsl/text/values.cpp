// Evaluates literals, and finds objects by their names.
// SPDX-License-Identifier: MIT
#include "values.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "../../framelocals/attributes.h"
#include "../../framelocals/no_memory.h"
#include "../../guards/objects/constant.h"
#include "../names/names.h"

#include "patterns.h"

namespace guardtree {
namespace {

using Kind = SyntaxKind;

/// The maximum size of a literal or a power. More is probably a mistake.
constexpr size_t max_bits = 1 << 20;

Owned<> integer_of(const std::string& digits) {
    char* end = nullptr;
    auto made = Owned<>::steal(PyLong_FromString(digits.c_str(), &end, 0));
    if (made && *end) return {};
    return made;
}

Owned<> float_of(std::string digits) {
    std::erase(digits, '_');
    const char last = digits.back();
    const bool is_imaginary = last == 'j' || last == 'J';
    if (is_imaginary) digits.pop_back();
    char* end = nullptr;
    const double value = PyOS_string_to_double(digits.c_str(), &end, nullptr);
    if (PyErr_Occurred() || *end) return {};
    return Owned<>::steal(is_imaginary ? PyComplex_FromDoubles(0, value)
                                       : PyFloat_FromDouble(value));
}

bool is_integer_text(std::string_view text) {
    if (text.size() > 1 && text[0] == '0' && (text[1] > '9' || text[1] < '0'))
        return (text[1] | 0x20) == 'x' || text.find_first_of(".jJeE") == text.npos;
    return text.find_first_of(".jJeE") == text.npos;
}

/// `a ** b`, if the size of the result is plausible.
Owned<> power_of(PyObject* base, PyObject* exponent) {
    if (!PyLong_Check(base) || !PyLong_Check(exponent)) return {};
    const long times = PyLong_AsLong(exponent);
    const double size = PyLong_AsDouble(base);
    if (PyErr_Occurred() || times < 0) return {};
    int bits = 0;
    (void)std::frexp(size, &bits);
    if (static_cast<double>(std::abs(bits)) * static_cast<double>(times) >
        static_cast<double>(max_bits)) {
        return {};
    }
    return Owned<>::steal(PyNumber_Power(base, exponent, Py_None));
}

Owned<> binary_result(std::string_view word, PyObject* left, PyObject* right) {
    if (!PyNumber_Check(left) || !PyNumber_Check(right)) return {};
    if (word == "+") return Owned<>::steal(PyNumber_Add(left, right));
    if (word == "-") return Owned<>::steal(PyNumber_Subtract(left, right));
    if (word == "*") return Owned<>::steal(PyNumber_Multiply(left, right));
    if (word == "**") return power_of(left, right);
    return {};
}

Owned<> tuple_of(const References& items) {
    auto made = Owned<>::steal(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
    for (size_t i = 0; made && i < items.size(); ++i) {
        PyTuple_SET_ITEM(made.get(), static_cast<Py_ssize_t>(i),
                         Owned<>::share(items[i].get()).release());
    }
    return made;
}

constexpr uint64_t quiet_nan = uint64_t{0x7FF8} << 48;  // float("nan")

PyObject* nan_object(uint64_t bits) {
    return PyFloat_FromDouble(std::bit_cast<double>(bits));
}

Owned<> nan_of(PyObject* bits) {
    if (!PyLong_CheckExact(bits)) return {};
    const uint64_t word = PyLong_AsUnsignedLongLong(bits);
    return Owned<>::steal(PyErr_Occurred() ? nullptr : nan_object(word));
}

}  // namespace

Owned<> TextValues::refused(SyntaxId id, std::string expected,
                            TextProblem& problem) const {
    drop_exception();
    if (!problem) problem = {syntax_[id].span, std::move(expected), {}, {}};
    return {};
}

/// Returns `object`, or reports the problem if it is null.
Owned<> TextValues::made(SyntaxId id, PyObject* object, TextProblem& problem) const {
    if (object) return Owned<>::steal(object);
    return refused(id, "a constant", problem);
}

PyObject* TextValues::given(std::string_view name) const {
    if (!names_.given) return nullptr;
    const Owned<> key = interned_name(name);
    PyObject* found = key ? PyDict_GetItemWithError(names_.given, key.get()) : nullptr;
    drop_exception();
    return found;
}

bool TextValues::is_variable(std::string_view name) const {
    if (!names_.scope.code || given(name)) return false;
    const Owned<> key = interned_name(name);
    return key && find_slot(names_.scope.code, key.get()) >= 0;
}

Owned<> TextValues::find_root(std::string_view name) const {
    // always the builtin, even if a variable has its name
    if (is_reserved(name)) return {};
    if (PyObject* found = given(name)) return Owned<>::share(found);
    const Owned<> key = interned_name(name);
    if (!key) return {};
    for (PyObject* dict : {names_.scope.globals, names_.scope.builtins}) {
        const Borrowed<> found = find_name(dict, key.get());
        if (found) return Owned<>::share(found.get());
    }
    return {};
}

/// Whether a name stands for this object itself. Other values of variables may be
/// replaced, so the guard compares the variable's current value.
bool TextValues::is_named_by(std::string_view name, PyObject* object) const {
    return given(name) || PyType_Check(object) || PyFunction_Check(object) ||
           PyCFunction_Check(object) || PyModule_Check(object) || is_singleton(object);
}

/// The names in `a.b.c`. False for other expressions.
bool TextValues::dotted(SyntaxId id, std::vector<std::string_view>& names) const {
    for (; syntax_[id].kind == Kind::attribute; id = syntax_[id].parts[0]) {
        names.push_back(syntax_[id].word);
    }
    if (syntax_[id].kind != Kind::name) return false;
    names.push_back(syntax_[id].word);
    std::ranges::reverse(names);
    return true;
}

Owned<> TextValues::reference(SyntaxId id, TextProblem& problem) const {
    static constexpr const char* expected = "the name of an object";
    std::vector<std::string_view> names;
    if (syntax_[id].kind == Kind::ellipsis) return Owned<>::share(Py_Ellipsis);
    if (!dotted(id, names)) return refused(id, expected, problem);
    if (names[0] == "None") return Owned<>::share(Py_None);
    if (names[0] == "True") return Owned<>::share(Py_True);
    if (names[0] == "False") return Owned<>::share(Py_False);
    if (is_variable(names[0])) return refused(id, "an object, not a variable", problem);
    Owned<> found = find_root(names[0]);
    for (size_t i = 1; found && i < names.size(); ++i) {
        found = find_member(found.get(), names[i]);
    }
    // The longest possible module name first, then a path in it. A name alone may be a
    // builtin.
    for (size_t count = names.size() + 1; !found && count-- > 0;) {
        ObjectName name{count ? "" : "builtins", {}};
        for (size_t i = 0; i < names.size(); ++i) {
            std::string& to = i < count ? name.module : name.path;
            const bool is_first = i == 0 || i == count;
            to += (is_first ? "" : ".") + std::string(names[i]);
        }
        found = find_object(name);
    }
    if (found && is_named_by(names[0], found.get())) return found;
    if (problem) return {};
    problem.hint =
        "no type, function or module of that name was given, or is a global, a "
        "builtin or in an imported module";
    return refused(id, expected, problem);
}

Owned<> TextValues::number(SyntaxId id, TextProblem& problem) const {
    const std::string digits(syntax_[id].word);
    Owned<> made = is_integer_text(digits) ? integer_of(digits) : float_of(digits);
    return made ? std::move(made) : refused(id, "a number", problem);
}

bool TextValues::parts(SyntaxId id, size_t first, bool may_refer, References& to,
                       TextProblem& problem) const {
    const std::vector<SyntaxId>& parts = syntax_[id].parts;
    for (size_t i = first; i < parts.size(); ++i) {
        Owned<> part = constant(parts[i], may_refer, problem);
        if (!part) return false;
        to.push_back(std::move(part));
    }
    return true;
}

/// Evaluates signs and sums.
Owned<> TextValues::computed(SyntaxId id, TextProblem& problem) const {
    const Syntax& at = syntax_[id];
    References values;
    if (!parts(id, 0, false, values, problem)) return {};
    Owned<> made;
    if (at.kind == Kind::binary) {
        made = binary_result(at.word, values[0].get(), values[1].get());
    } else if (PyNumber_Check(values[0].get()) && !PyBool_Check(values[0].get())) {
        PyObject* number = values[0].get();
        made = Owned<>::steal(at.word == "-" ? PyNumber_Negative(number)
                                             : PyNumber_Positive(number));
    }
    return made ? std::move(made) : refused(id, "a constant", problem);
}

Owned<> TextValues::dict(SyntaxId id, TextProblem& problem) const {
    References parts_of_it;
    if (!parts(id, 0, false, parts_of_it, problem)) return {};
    auto made = Owned<>::steal(PyDict_New());
    for (size_t i = 0; made && i < parts_of_it.size(); i += 2) {
        if (PyDict_SetItem(made.get(), parts_of_it[i].get(), parts_of_it[i + 1].get()))
            return refused(id, "keys that can be hashed", problem);
    }
    return made ? std::move(made)
                : refused(id, "a constant that fits in memory", problem);
}

/// TensorSpec(dtype="float32", shape=(2, None)).
Owned<> TextValues::facts(SyntaxId id, TextProblem& problem) const {
    const Syntax& at = syntax_[id];
    if (at.parts.size() != at.keywords.size() + 1)
        return refused(id, "facts by name in TensorSpec(...)", problem);
    References values;
    if (!parts(id, 1, true, values, problem)) return {};
    auto made = Owned<>::steal(PyDict_New());
    for (size_t i = 0; made && i < values.size(); ++i) {
        const std::string name(at.keywords[i]);
        if (PyDict_SetItemString(made.get(), name.c_str(), values[i].get()))
            return refused(id, "facts by name", problem);
    }
    return made ? std::move(made)
                : refused(id, "a constant that fits in memory", problem);
}

Owned<> TextValues::called(SyntaxId id, TextProblem& problem) const {
    const Syntax& at = syntax_[id];
    const Syntax& function = syntax_[at.parts[0]];
    if (function.kind != Kind::name) return refused(id, "a constant", problem);
    if (function.word == "TensorSpec") return facts(id, problem);
    static constexpr std::string_view words[] = {"complex", "frozenset", "set", "range",
                                                 "nan_of_bits"};
    if (std::ranges::find(words, function.word) == std::end(words) ||
        !at.keywords.empty()) {
        return refused(id, "a constant", problem);
    }
    References values;
    if (!parts(id, 1, false, values, problem)) return {};
    const Owned<> arguments = tuple_of(values);
    if (!arguments) return refused(id, "a constant that fits in memory", problem);
    if (function.word == "nan_of_bits") {
        Owned<> made = values.size() == 1 ? nan_of(values[0].get()) : Owned<>();
        return made ? std::move(made) : refused(id, "the bits of a NaN", problem);
    }
    PyTypeObject* type = function.word == "complex"     ? &PyComplex_Type
                         : function.word == "frozenset" ? &PyFrozenSet_Type
                         : function.word == "set"       ? &PySet_Type
                                                        : &PyRange_Type;
    return made(id, PyObject_CallObject(as_object(type), arguments.get()), problem);
}

Owned<> TextValues::constant(SyntaxId id, bool may_refer, TextProblem& problem) const {
    const Syntax& at = syntax_[id];
    References items;
    switch (at.kind) {
    case Kind::number: return number(id, problem);
    case Kind::string: {
        std::string reason;
        Owned<> text = string_of(at.word, reason);
        return text ? std::move(text) : refused(id, reason, problem);
    }
    case Kind::ellipsis: return Owned<>::share(Py_Ellipsis);
    case Kind::name:
        if (at.word == "nan") return made(id, nan_object(quiet_nan), problem);
        if (at.word == "inf") return made(id, PyFloat_FromDouble(Py_HUGE_VAL), problem);
        if (PyObject* object = given(at.word)) return Owned<>::share(object);
        if (at.word == "Ellipsis") return Owned<>::share(Py_Ellipsis);
        if (may_refer || is_literal_name(at.word)) return reference(id, problem);
        return refused(id, "a constant", problem);
    case Kind::attribute:
        return may_refer ? reference(id, problem) : refused(id, "a constant", problem);
    case Kind::sign:
    case Kind::binary: return computed(id, problem);
    case Kind::call: return called(id, problem);
    case Kind::dict: return dict(id, problem);
    case Kind::tuple:
    case Kind::list:
    case Kind::set: break;
    default: return refused(id, "a constant", problem);
    }
    // Elements of sets and keys must not be objects of users, because they are hashed.
    const bool holds_names = may_refer && at.kind != Kind::set;
    if (!parts(id, 0, holds_names, items, problem)) return {};
    const Owned<> tuple = tuple_of(items);
    if (!tuple) return refused(id, "a constant that fits in memory", problem);
    if (at.kind == Kind::tuple) return Owned<>::share(tuple.get());
    return made(
        id,
        at.kind == Kind::list ? PySequence_List(tuple.get()) : PySet_New(tuple.get()),
        problem);
}

}  // namespace guardtree
