// Converts untrusted JSON to objects for operands.
// SPDX-License-Identifier: MIT
#include <Python.h>

#include <bit>

#include "../../framelocals/exception.h"
#include "../../guards/objects/constant.h"
#include "../../guards/ops/named_op.h"
#include "../names/names.h"

#include "operands.h"
#include "writer.h"

namespace guardtree {
namespace {

/// The only key and its value. Null if the object has none or several.
PyObject* only_member(PyObject* object, PyObject** key) {
    PyObject* value = nullptr;
    Py_ssize_t position = 0;
    if (!PyDict_CheckExact(object) || PyDict_GET_SIZE(object) != 1) return nullptr;
    PyDict_Next(object, &position, key, &value);
    return value;
}

/// The value of a hexadecimal digit in the writer's form. -1 for other characters.
int digit(char character) noexcept {
    if (character >= '0' && character <= '9') return character - '0';
    if (character >= 'a' && character <= 'f') return character - 'a' + 10;
    return -1;
}

bool is_hex(std::string_view text) noexcept {
    for (const char each : text) {
        if (digit(each) < 0) return false;
    }
    return !text.empty();
}

/// The text of an ASCII str. Empty for other objects.
std::string_view ascii(PyObject* object) noexcept {
    if (!PyUnicode_CheckExact(object) || !PyUnicode_IS_ASCII(object)) return {};
    return {static_cast<const char*>(PyUnicode_DATA(object)),
            static_cast<size_t>(PyUnicode_GET_LENGTH(object))};
}

Owned<> tuple_of(std::vector<Owned<>>& items) {
    auto made = Owned<>::steal(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
    for (size_t i = 0; made && i < items.size(); ++i) {
        PyTuple_SET_ITEM(made.get(), static_cast<Py_ssize_t>(i), items[i].release());
    }
    return made;
}

using At = JsonProgress::At;

}  // namespace

struct JsonOperandReader::Tag {
    std::string_view name;
    Owned<> (JsonOperandReader::*read)(PyObject* body, unsigned depth);
};

bool JsonOperandReader::read(OpCode code, PyObject* list, std::vector<Owned<>>& to) {
    const std::span<const JsonShape> shapes = json_shapes(code);
    const At at(progress_, ".operands");
    if (!PyList_CheckExact(list)) return progress_.refuse_found("a list", list);
    const auto given = static_cast<size_t>(PyList_GET_SIZE(list));
    if (given != shapes.size()) {
        return progress_.refuse(std::string(info_of(code).name) + " takes " +
                                std::to_string(shapes.size()) + " operand(s), " +
                                std::to_string(given) + " given");
    }
    for (size_t i = 0; i < given; ++i) {
        const auto place = static_cast<Py_ssize_t>(i);
        const At each(progress_, "", place);
        if (shapes[i] == JsonShape::code || shapes[i] == JsonShape::state) {
            return progress_.refuse(std::string(info_of(code).name) +
                                    " has no form in JSON: it is about code or state "
                                    "of one process");
        }
        Owned<> object = operand(shapes[i], PyList_GET_ITEM(list, place));
        if (!object) return false;
        to.push_back(std::move(object));
    }
    return true;
}

Owned<> JsonOperandReader::text(PyObject* value) {
    Owned<> found = constant(value, 0);
    if (!found || PyUnicode_CheckExact(found.get())) return found;
    return refused_found("a string", value);
}

Owned<> JsonOperandReader::refused(const std::string& text) {
    progress_.refuse(text);
    return {};
}

Owned<> JsonOperandReader::refused_found(const std::string& expected, PyObject* found) {
    progress_.refuse_found(expected, found);
    return {};
}

Owned<> JsonOperandReader::refused_raised(const std::string& what) {
    progress_.refuse_raised(what);
    return {};
}

Owned<> JsonOperandReader::operand(JsonShape shape, PyObject* value) {
    switch (shape) {
    case JsonShape::constant: return constant(value, 0);
    case JsonShape::expression: return expression(value);
    case JsonShape::kind: return kind(value);
    case JsonShape::kinds: return kinds(value);
    case JsonShape::facts: return facts(value);
    default: return reference(shape, value);
    }
}

Owned<> JsonOperandReader::expression(PyObject* value) {
    if (PyUnicode_CheckExact(value) &&
        PyUnicode_GET_LENGTH(value) > longest_json_expression) {
        return refused("expected an expression of at most " +
                       std::to_string(longest_json_expression) + " characters");
    }
    return text(value);
}

// Objects that guards refer to.

/// Checks the type of an object before an operand reads it, because the operand's
/// message would call its `__repr__`.
Owned<> JsonOperandReader::reference(JsonShape shape, PyObject* value) {
    PyObject* key = nullptr;
    PyObject* name = only_member(value, &key);
    if (!name || ascii(key) != "ref") {
        Owned<> found = value == Py_None || PyBool_Check(value) || name
                            ? constant(value, 0)
                            : Owned<>();
        if (progress_.problem || progress_.raised) return {};
        if (found && shape == JsonShape::reference && is_singleton(found.get()))
            return found;
        return refused_found("{\"ref\": [module, path]}", value);
    }
    const At at(progress_, ".ref");
    Owned<> found = find(name);
    if (!found) return {};
    PyObject* object = found.get();
    if (shape == JsonShape::type && !PyType_Check(object))
        return refused("this is no type");
    if (shape == JsonShape::function && !PyFunction_Check(object))
        return refused("this is no function written in Python");
    if (shape == JsonShape::variable && !PyContextVar_CheckExact(object))
        return refused("this is no contextvars.ContextVar");
    return found;
}

Owned<> JsonOperandReader::find(PyObject* name) {
    const bool is_pair = PyList_CheckExact(name) && PyList_GET_SIZE(name) == 2 &&
                         PyUnicode_CheckExact(PyList_GET_ITEM(name, 0)) &&
                         PyUnicode_CheckExact(PyList_GET_ITEM(name, 1));
    if (!is_pair) return refused_found("[module, path], two strings", name);
    PyObject* module = PyList_GET_ITEM(name, 0);
    PyObject* path = PyList_GET_ITEM(name, 1);
    if (PyObject* resolver = progress_.reading.resolver) {
        auto found = Owned<>::steal(
            PyObject_CallFunctionObjArgs(resolver, module, path, nullptr));
        if (!found) {
            progress_.keep_raised();
            return {};
        }
        if (found.get() != Py_None) return found;
    }
    const ObjectName wanted{utf8(module), utf8(path)};
    Owned<> found = find_object(wanted);
    if (found) return found;
    if (find_object({wanted.module, ""})) {
        return refused("module " + short_repr(module) + " has no " + short_repr(path));
    }
    return refused("no module " + short_repr(module) +
                   " is imported; import it first, or give a resolver");
}

/// A tuple of the kind's name and its operands, as in Python.
Owned<> JsonOperandReader::kind(PyObject* value) {
    if (!demand_json_keys(progress_, value, {"kind", "operands"})) return {};
    PyObject* name = json_member(value, "kind");
    OpCode code{};
    if (!PyUnicode_CheckExact(name) || !find_op(utf8(name), code) || !is_kind(code)) {
        return refused("there is no kind called " + short_repr(name));
    }
    if (kinds_deep_ >= progress_.reading.limits.depth) {
        return refused("kinds nest at most " +
                       std::to_string(progress_.reading.limits.depth) + " deep");
    }
    std::vector<Owned<>> parts;
    parts.push_back(Owned<>::share(name));
    ++kinds_deep_;
    const bool is_read = read(code, json_member(value, "operands"), parts);
    --kinds_deep_;
    if (!is_read) return {};
    Owned<> made = tuple_of(parts);
    return made ? std::move(made) : refused_raised("a kind");
}

Owned<> JsonOperandReader::kinds(PyObject* value) {
    if (!PyList_CheckExact(value)) return refused_found("a list of kinds", value);
    std::vector<Owned<>> all;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(value); ++i) {
        const At at(progress_, "", i);
        Owned<> one = kind(PyList_GET_ITEM(value, i));
        if (!one) return {};
        all.push_back(std::move(one));
    }
    Owned<> made = tuple_of(all);
    return made ? std::move(made) : refused_raised("kinds");
}

Owned<> JsonOperandReader::facts(PyObject* value) {
    if (!PyDict_CheckExact(value)) return refused_found("an object of facts", value);
    auto made = Owned<>::steal(PyDict_New());
    if (!made) return refused_raised("facts");
    Py_ssize_t position = 0;
    PyObject* name = nullptr;
    PyObject* fact = nullptr;
    while (PyDict_Next(value, &position, &name, &fact)) {
        const At at(progress_, "[" + short_repr(name) + "]");
        const bool is_type = ascii(name) == "type";
        const Owned<> object =
            is_type ? reference(JsonShape::type, fact) : constant(fact, 0);
        if (!object) return {};
        if (PyDict_SetItem(made.get(), name, object.get()) < 0)
            return refused_raised("facts");
    }
    return made;
}

// Constants.

Owned<> JsonOperandReader::constant(PyObject* value, unsigned depth) {
    if (!progress_.spend(1)) return {};
    if (value == Py_None || PyBool_Check(value)) return Owned<>::share(value);
    if (PyUnicode_CheckExact(value)) {
        constexpr unsigned compared_at_once = 64;
        const auto length = static_cast<uint64_t>(PyUnicode_GET_LENGTH(value));
        if (!progress_.spend(length / compared_at_once)) return {};
        return Owned<>::share(value);
    }
    if (PyLong_CheckExact(value)) return small_int(value);
    if (PyDict_CheckExact(value)) return tagged(value, depth);
    if (PyFloat_CheckExact(value)) {
        return refused(
            "numbers with a fraction or an exponent are written {\"float\": "
            "\"0x1.8000000000000p+0\"}, as float.hex() has it");
    }
    return refused("lists are written {\"list\": [...]}, tuples {\"tuple\": [...]}");
}

Owned<> JsonOperandReader::small_int(PyObject* value) {
    int overflow = 0;
    const long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0 && small > -json_int_limit && small < json_int_limit) {
        return Owned<>::share(value);
    }
    return refused(
        "ints beyond 2**53 are written {\"int\": \"0x...\"}, because other "
        "programs round them");
}

Owned<> JsonOperandReader::tagged(PyObject* value, unsigned depth) {
    static constexpr Tag tags[] = {
        {"bytes", &JsonOperandReader::of_bytes},
        {"complex", &JsonOperandReader::of_complex},
        {"dict", &JsonOperandReader::of_dict},
        {"ellipsis", &JsonOperandReader::of_ellipsis},
        {"float", &JsonOperandReader::of_float},
        {"float_bits", &JsonOperandReader::of_float_bits},
        {"frozenset", &JsonOperandReader::of_frozenset},
        {"int", &JsonOperandReader::of_int},
        {"list", &JsonOperandReader::of_list},
        {"range", &JsonOperandReader::of_range},
        {"set", &JsonOperandReader::of_set},
        {"str", &JsonOperandReader::of_str},
        {"tuple", &JsonOperandReader::of_tuple},
    };
    PyObject* key = nullptr;
    PyObject* body = only_member(value, &key);
    std::string known;
    for (const Tag& tag : tags) {
        if (body && ascii(key) == tag.name) {
            const At at(progress_, "." + std::string(tag.name));
            return (this->*tag.read)(body, depth);
        }
        known += (known.empty() ? "" : ", ") + std::string(tag.name);
    }
    if (body && ascii(key) == "ref")
        return refused("a ref is allowed only where a guard names an object");
    return refused("expected an object of one of the keys " + known);
}

bool JsonOperandReader::items(PyObject* body, unsigned depth, Items& to) {
    if (!PyList_CheckExact(body)) return progress_.refuse_found("a list", body);
    if (depth >= progress_.reading.limits.depth) {
        return progress_.refuse("constants nest at most " +
                                std::to_string(progress_.reading.limits.depth) +
                                " deep");
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(body); ++i) {
        const At at(progress_, "", i);
        Owned<> item = constant(PyList_GET_ITEM(body, i), depth + 1);
        if (!item) return false;
        to.push_back(std::move(item));
    }
    return true;
}

/// The hashes of str and bytes cannot be chosen by an attacker. Other keys can be made
/// to collide.
bool JsonOperandReader::spend_on_key(PyObject* key, Py_ssize_t others) {
    const bool is_hashed = PyUnicode_CheckExact(key) || PyBytes_CheckExact(key);
    return is_hashed || progress_.spend(static_cast<uint64_t>(others));
}

Owned<> JsonOperandReader::of_int(PyObject* body, unsigned) {
    const std::string_view text = ascii(body);
    const size_t sign = text.starts_with("-") ? 1 : 0;
    if (text.substr(sign, 2) != "0x" || !is_hex(text.substr(sign + 2))) {
        return refused_found("an int in hexadecimal, such as \"-0x1f\"", body);
    }
    if (!progress_.spend(text.size() / 64)) return {};
    auto made = Owned<>::steal(PyLong_FromString(text.data(), nullptr, 16));
    return made ? std::move(made) : refused_raised("an int");
}

Owned<> JsonOperandReader::of_float(PyObject* body, unsigned) {
    const char* expected =
        "a float as float.hex() writes it, such as \"0x1.8000000000000p+0\"";
    if (ascii(body).empty()) return refused_found(expected, body);
    auto* type = as_object(&PyFloat_Type);
    auto made = Owned<>::steal(PyObject_CallMethod(type, "fromhex", "O", body));
    const auto text = Owned<>::steal(
        made ? PyObject_CallMethod(made.get(), "hex", nullptr) : nullptr);
    if (!text) return refused_raised("expected " + std::string(expected));
    const bool is_nan = ascii(body) == "nan";
    if (is_nan || ascii(text.get()) != ascii(body)) {
        return refused_found(is_nan ? "a NaN as {\"float_bits\": ...}" : expected,
                             body);
    }
    return made;
}

Owned<> JsonOperandReader::of_float_bits(PyObject* body, unsigned) {
    const std::string_view text = ascii(body);
    if (text.size() != 16 || !is_hex(text)) {
        return refused_found("16 digits of hexadecimal", body);
    }
    uint64_t bits = 0;
    for (const char each : text) bits = bits << 4 | static_cast<unsigned>(digit(each));
    auto made = Owned<>::steal(PyFloat_FromDouble(std::bit_cast<double>(bits)));
    return made ? std::move(made) : refused_raised("a float");
}

Owned<> JsonOperandReader::of_complex(PyObject* body, unsigned depth) {
    Items parts;
    if (!items(body, depth, parts)) return {};
    const bool are_floats = parts.size() == 2 && PyFloat_CheckExact(parts[0].get()) &&
                            PyFloat_CheckExact(parts[1].get());
    if (!are_floats) return refused("expected two floats");
    auto made = Owned<>::steal(PyComplex_FromDoubles(
        PyFloat_AS_DOUBLE(parts[0].get()), PyFloat_AS_DOUBLE(parts[1].get())));
    return made ? std::move(made) : refused_raised("a complex");
}

bool JsonOperandReader::hex(PyObject* body, std::string& to) {
    const std::string_view text = ascii(body);
    const bool is_empty = PyUnicode_CheckExact(body) && PyUnicode_GET_LENGTH(body) == 0;
    if (!is_empty && (text.size() % 2 != 0 || !is_hex(text))) {
        return progress_.refuse_found(
            "pairs of digits of hexadecimal, such as \"00ff\"", body);
    }
    for (size_t i = 0; i < text.size(); i += 2) {
        to += static_cast<char>(digit(text[i]) << 4 | digit(text[i + 1]));
    }
    return progress_.spend(to.size() / 64);
}

Owned<> JsonOperandReader::of_bytes(PyObject* body, unsigned) {
    std::string bytes;
    if (!hex(body, bytes)) return {};
    auto made = Owned<>::steal(
        PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
    return made ? std::move(made) : refused_raised("bytes");
}

Owned<> JsonOperandReader::of_str(PyObject* body, unsigned) {
    std::string bytes;
    if (!hex(body, bytes)) return {};
    auto made = Owned<>::steal(PyUnicode_DecodeUTF8(
        bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogatepass"));
    return made ? std::move(made) : refused_raised("expected the UTF-8 of a str");
}

Owned<> JsonOperandReader::of_ellipsis(PyObject* body, unsigned) {
    if (body != Py_True) return refused_found("true", body);
    return Owned<>::share(Py_Ellipsis);
}

Owned<> JsonOperandReader::of_tuple(PyObject* body, unsigned depth) {
    Items all;
    if (!items(body, depth, all)) return {};
    Owned<> made = tuple_of(all);
    return made ? std::move(made) : refused_raised("a tuple");
}

Owned<> JsonOperandReader::of_list(PyObject* body, unsigned depth) {
    const Owned<> tuple = of_tuple(body, depth);
    if (!tuple) return {};
    auto made = Owned<>::steal(PySequence_List(tuple.get()));
    return made ? std::move(made) : refused_raised("a list");
}

Owned<> JsonOperandReader::of_set(PyObject* body, unsigned depth) {
    return set_of(body, depth, Owned<>::steal(PySet_New(nullptr)));
}

Owned<> JsonOperandReader::of_frozenset(PyObject* body, unsigned depth) {
    return set_of(body, depth, Owned<>::steal(PyFrozenSet_New(nullptr)));
}

Owned<> JsonOperandReader::set_of(PyObject* body, unsigned depth, Owned<> made) {
    Items all;
    if (!made) return refused_raised("a set");
    if (!items(body, depth, all)) return {};
    for (const Owned<>& each : all) {
        const Py_ssize_t others = PySet_GET_SIZE(made.get());
        if (!spend_on_key(each.get(), others)) return {};
        if (PySet_Add(made.get(), each.get()) < 0)
            return refused_raised("expected what a set can hold");
        if (PySet_GET_SIZE(made.get()) == others)
            return refused("two of the elements are equal");
    }
    return made;
}

Owned<> JsonOperandReader::of_dict(PyObject* body, unsigned depth) {
    if (!PyList_CheckExact(body)) return refused_found("a list of pairs", body);
    auto made = Owned<>::steal(PyDict_New());
    if (!made) return refused_raised("a dict");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(body); ++i) {
        const At at(progress_, "", i);
        Items pair;
        if (!items(PyList_GET_ITEM(body, i), depth, pair)) return {};
        if (pair.size() != 2) return refused("expected a pair: [key, value]");
        if (!spend_on_key(pair[0].get(), i)) return {};
        if (PyDict_SetItem(made.get(), pair[0].get(), pair[1].get()) < 0)
            return refused_raised("expected what a dict can have as a key");
        if (PyDict_GET_SIZE(made.get()) == i)
            return refused("the key is equal to an earlier one");
    }
    return made;
}

Owned<> JsonOperandReader::of_range(PyObject* body, unsigned depth) {
    Items parts;
    if (!items(body, depth, parts)) return {};
    bool are_ints = parts.size() == 3;
    for (const Owned<>& part : parts) are_ints &= PyLong_CheckExact(part.get()) != 0;
    if (!are_ints) return refused("expected [start, stop, step], three ints");
    auto made = Owned<>::steal(
        PyObject_CallFunctionObjArgs(as_object(&PyRange_Type), parts[0].get(),
                                     parts[1].get(), parts[2].get(), nullptr));
    return made ? std::move(made) : refused_raised("expected a range");
}

}  // namespace guardtree
