// Writes operands as JSON text.
// SPDX-License-Identifier: MIT
//
// The text is produced here and not with CPython's `json`. Sets are sorted by the text
// of their elements, so text is built from the inside out. The only other part of a
// JSON writer is string escaping. Tests compare with `json`.
#include <Python.h>

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cmath>
#include <concepts>

#include "../../framelocals/compiler.h"
#include "../../framelocals/iterators.h"
#include "../../framelocals/no_memory.h"
#include "../../framelocals/set_entries.h"
#include "../../guards/objects/constant.h"
#include "../../guards/ops/named_op.h"
#include "../names/names.h"

#include "operands.h"
#include "writer.h"

namespace guardtree {
namespace {

template <class T>
constexpr JsonShape shape_of = [] {
    if constexpr (std::derived_from<T, TypeIdentity>) {
        return JsonShape::type;
    } else if constexpr (std::derived_from<T, Variable>) {
        return JsonShape::variable;
    } else if constexpr (std::same_as<T, FunctionParts>) {
        return JsonShape::function;
    } else if constexpr (std::same_as<T, InnerKind>) {
        return JsonShape::kind;
    } else if constexpr (std::same_as<T, InnerKinds>) {
        return JsonShape::kinds;
    } else if constexpr (std::same_as<T, TensorOperand>) {
        return JsonShape::facts;
    } else if constexpr (std::same_as<T, IntegerText>) {
        return JsonShape::expression;
    } else {
        switch (form_of<T>) {
        case OperandForm::constant:
        case OperandForm::name: return JsonShape::constant;
        case OperandForm::reference: return JsonShape::reference;
        case OperandForm::code: return JsonShape::code;
        case OperandForm::state: return JsonShape::state;
        case OperandForm::kinds: return JsonShape::kinds;
        }
    }
}();

template <class T>
constexpr auto operand_shapes = std::apply(
    []<class... Members>(const Operand<Members, T>&...) {
        return std::array<JsonShape, sizeof...(Members)>{shape_of<Members>...};
    },
    T::operands());

constexpr char hex_digits[] = "0123456789abcdef";

/// The last `digits` hexadecimal digits of a number.
std::string hex(uint64_t number, int digits) {
    std::string text;
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
        text += hex_digits[number >> shift & 0xf];
    }
    return text;
}

std::string hex(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) text += hex(static_cast<unsigned char>(byte), 2);
    return text;
}

void append_character(std::string& to, Py_UCS4 character) {
    static constexpr std::string_view escaped = "\"\\\b\f\n\r\t";
    static constexpr std::string_view letters = "\"\\bfnrt";
    if (character >= 0x10000) {
        const Py_UCS4 rest = character - 0x10000;
        to += "\\u" + hex(0xd800 + (rest >> 10), 4);
        to += "\\u" + hex(0xdc00 + (rest & 0x3ff), 4);
        return;
    }
    const size_t place =
        character < 0x80 ? escaped.find(static_cast<char>(character)) : escaped.npos;
    if (place != escaped.npos) {
        to += '\\';
        to += letters[place];
    } else if (character >= 0x20 && character < 0x7f) {
        to += static_cast<char>(character);
    } else {
        to += "\\u" + hex(character, 4);
    }
}

/// A str as a JSON string.
std::string escaped(PyObject* text) {
    std::string made = "\"";
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(text); ++i) {
        append_character(made, PyUnicode_READ_CHAR(text, i));
    }
    return made + "\"";
}

std::string tagged(std::string_view tag, const std::string& value) {
    return "{" + json_quoted(tag) + ":" + value + "}";
}

bool has_surrogates(PyObject* text) noexcept {
    if (PyUnicode_IS_ASCII(text)) return false;
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(text); ++i) {
        if (Py_UNICODE_IS_SURROGATE(PyUnicode_READ_CHAR(text, i))) return true;
    }
    return false;
}

std::span<PyObject* const> items_of(PyObject* sequence) noexcept {
    return {PySequence_Fast_ITEMS(sequence), static_cast<size_t>(Py_SIZE(sequence))};
}

/// Writes operands. If one has no JSON form, sets a reason, and the text is
/// meaningless.
class OperandWriter {
public:
    std::string operands(OpCode code, std::span<PyObject* const> objects) {
        std::vector<std::string> texts;
        for (size_t i = 0; i < objects.size(); ++i) {
            subject_ = operands_of(code)[i].name;
            texts.push_back(operand(json_shapes(code)[i], objects[i]));
        }
        return json_list(texts);
    }

    /// The reason for the first part without a JSON form: "its expected is ...".
    const std::string& reason() const noexcept { return reason_; }

    std::string text(PyObject* object) {
        if (!has_surrogates(object)) return escaped(object);
        const auto bytes =
            Owned<>::steal(PyUnicode_AsEncodedString(object, "utf-8", "surrogatepass"));
        return bytes ? tagged("str", json_quoted(hex(bytes_in(bytes.get()))))
                     : no_memory();
    }

private:
    std::string refuse(const std::string& reason) {
        if (reason_.empty()) reason_ = "its " + std::string(subject_) + " " + reason;
        return {};
    }

    std::string no_memory() {
        drop_exception();
        return refuse("needs more memory than there is");
    }

    static std::string_view bytes_in(PyObject* bytes) noexcept {
        return {PyBytes_AS_STRING(bytes), static_cast<size_t>(Py_SIZE(bytes))};
    }

    std::string operand(JsonShape shape, PyObject* object) {
        switch (shape) {
        case JsonShape::constant:
            return is_too_long_for_text(object)
                       ? refuse("has the same parts in it millions of times, and JSON "
                                "would write them out each time")
                       : constant(object);
        case JsonShape::expression:
            return PyUnicode_GET_LENGTH(object) <= longest_json_expression
                       ? text(object)
                       : refuse("is longer than " +
                                std::to_string(longest_json_expression) +
                                " characters");
        case JsonShape::reference:
        case JsonShape::type:
        case JsonShape::function:
        case JsonShape::variable: return reference(object);
        case JsonShape::kind: return kind(object);
        case JsonShape::kinds: return kinds(object);
        case JsonShape::facts: return facts(object);
        case JsonShape::code: return refuse("is code of this process");
        case JsonShape::state:
            return refuse("is an object as it was when the guard was built");
        }
        unreachable();
    }

    std::string constant(PyObject* object) {
        if (object == Py_None) return "null";
        if (PyBool_Check(object)) return object == Py_True ? "true" : "false";
        if (object == Py_Ellipsis) return tagged("ellipsis", "true");
        if (PyLong_CheckExact(object)) return integer(object);
        if (PyUnicode_CheckExact(object)) return text(object);
        if (PyFloat_CheckExact(object)) return number(PyFloat_AS_DOUBLE(object));
        if (PyComplex_CheckExact(object)) return complex_number(object);
        if (PyBytes_CheckExact(object)) {
            return tagged("bytes", json_quoted(hex(bytes_in(object))));
        }
        if (PyTuple_CheckExact(object)) return tagged("tuple", sequence(object));
        if (PyList_CheckExact(object)) return tagged("list", sequence(object));
        if (PyDict_CheckExact(object)) return dict(object);
        if (PySet_CheckExact(object)) return tagged("set", elements(object));
        if (PyFrozenSet_CheckExact(object)) {
            return tagged("frozenset", elements(object));
        }
        if (Py_TYPE(object) == &PyRange_Type) return range(object);
        return refuse("holds an object of type '" +
                      std::string(Py_TYPE(object)->tp_name) +
                      "', which is no constant");
    }

    std::string integer(PyObject* object) {
        int overflow = 0;
        const long long small = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow == 0 && small > -json_int_limit && small < json_int_limit) {
            return std::to_string(small);
        }
        const auto text = Owned<>::steal(PyNumber_ToBase(object, 16));
        return text ? tagged("int", escaped(text.get())) : no_memory();
    }

    std::string integer(long value) {
        const auto object = Owned<>::steal(PyLong_FromLong(value));
        return object ? integer(object.get()) : no_memory();
    }

    std::string number(double value) {
        if (std::isnan(value)) {
            const auto bits = std::bit_cast<uint64_t>(value);
            return tagged("float_bits", json_quoted(hex(bits, 16)));
        }
        const auto object = Owned<>::steal(PyFloat_FromDouble(value));
        const auto text = Owned<>::steal(
            object ? PyObject_CallMethod(object.get(), "hex", nullptr) : nullptr);
        return text ? tagged("float", escaped(text.get())) : no_memory();
    }

    std::string complex_number(PyObject* object) {
        const Py_complex value = PyComplex_AsCComplex(object);
        return tagged("complex", json_list({number(value.real), number(value.imag)}));
    }

    std::string sequence(PyObject* object) {
        std::vector<std::string> texts;
        for (PyObject* item : items_of(object)) texts.push_back(constant(item));
        return json_list(texts);
    }

    std::string dict(PyObject* object) {
        std::vector<std::string> pairs;
        Py_ssize_t position = 0;
        PyObject* key = nullptr;
        PyObject* value = nullptr;
        while (PyDict_Next(object, &position, &key, &value)) {
            pairs.push_back(json_list({constant(key), constant(value)}));
        }
        std::ranges::sort(pairs);
        return tagged("dict", json_list(pairs));
    }

    std::string elements(PyObject* set) {
        std::vector<std::string> texts;
        Py_ssize_t position = 0;
        PyObject* element = nullptr;
        while (next_set_entry(set, &position, &element)) {
            texts.push_back(constant(element));
        }
        std::ranges::sort(texts);
        return json_list(texts);
    }

    /// Ranges with the same numbers are equal operands. All of them are written as the
    /// one that ends just after its last number.
    std::string range(PyObject* object) {
        const auto iterator = Owned<>::steal(PyObject_GetIter(object));
        RangeLeft left;
        if (!iterator || !read_range_iterator(iterator.get(), left)) return no_memory();
        if (left.length <= 0) left = {.start = 0, .step = 1, .length = 0};
        if (left.length == 1) left.step = left.start < LONG_MAX ? 1 : -1;
        long stop = left.start;
        if (left.length > 0) {
            stop += (left.length - 1) * left.step + (left.step > 0 ? 1 : -1);
        }
        return tagged("range", json_list({integer(left.start), integer(stop),
                                          integer(left.step)}));
    }

    std::string reference(PyObject* object) {
        if (is_singleton(object)) return constant(object);
        ObjectName name;
        if (!name_object(object, name)) {
            return refuse("is an object of type '" +
                          std::string(Py_TYPE(object)->tp_name) +
                          "' that no name leads to");
        }
        return tagged("ref", json_list({name_text(name.module), name_text(name.path)}));
    }

    std::string name_text(const std::string& name) {
        const auto object = Owned<>::steal(PyUnicode_FromStringAndSize(
            name.data(), static_cast<Py_ssize_t>(name.size())));
        return object ? escaped(object.get()) : no_memory();
    }

    /// `parts`: the kind's name and its operands.
    std::string kind(PyObject* parts) {
        OpCode code{};
        find_op(utf8(PyTuple_GET_ITEM(parts, 0)), code);
        const std::string texts = operands(code, items_of(parts).subspan(1));
        return "{\"kind\":" + json_quoted(info_of(code).name) +
               ",\"operands\":" + texts + "}";
    }

    std::string kinds(PyObject* all) {
        std::vector<std::string> texts;
        for (PyObject* parts : items_of(all)) texts.push_back(kind(parts));
        return json_list(texts);
    }

    std::string facts(PyObject* by_name) {
        std::vector<std::string> texts;
        Py_ssize_t position = 0;
        PyObject* name = nullptr;
        PyObject* value = nullptr;
        while (PyDict_Next(by_name, &position, &name, &value)) {
            texts.push_back(escaped(name) + ":" +
                            (PyType_Check(value) ? reference(value) : constant(value)));
        }
        std::ranges::sort(texts);
        return json_list(texts, '{', '}');
    }

    std::string_view subject_ = "note";  ///< the operand being written
    std::string reason_;
};

}  // namespace

std::span<const JsonShape> json_shapes(OpCode code) {
    switch (code) {
#define X(type, stem) \
    case OpCode::type: return operand_shapes<type>;
        GUARDTREE_OPS(X)
#undef X
    default: break;
    }
    return {};
}

std::string json_operands(OpCode code, std::span<PyObject* const> objects,
                          std::string& reason) {
    OperandWriter writer;
    std::string text = writer.operands(code, objects);
    reason = writer.reason();
    return text;
}

std::string json_text(PyObject* text) {
    return OperandWriter().text(text);
}

std::string json_list(const std::vector<std::string>& items, char open, char close) {
    std::string text(1, open);
    for (const std::string& item : items) {
        if (text.size() > 1) text += ',';
        text += item;
    }
    return text + close;
}

}  // namespace guardtree
