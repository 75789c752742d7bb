// Writes the repr of builtin types.
// SPDX-License-Identifier: MIT
#include "repr_writer.h"

#include <algorithm>

#include "../../framelocals/set_entries.h"

namespace guardtree {
namespace {

constexpr Py_ssize_t longest_int = 8192;  ///< in bits; longer ones are not written

}  // namespace

void ReprWriter::write(PyObject* object) {
    if (text_.is_full() || TextCall::has_kept() || write_plain(object) ||
        write_builtin(object) || write_library(object) || write_generated(object)) {
        return;
    }
    write_own(object);
}

void ReprWriter::write_str(PyObject* object) {
    if (TextCall::has_kept()) return;
    if (PyUnicode_Check(object)) return text_.add_str(object);
    if (Py_TYPE(object)->tp_str == PyBaseObject_Type.tp_str) return write(object);
    add_or_tell(object, Owned<>::steal(PyObject_Str(object)));
}

void ReprWriter::add_or_tell(PyObject* object, const Owned<>& made) {
    if (made) return text_.add_str(made.get());
    TextCall::drop_exception();
    add("<" + std::string(Py_TYPE(object)->tp_name) + " object, its repr raises>");
}

void ReprWriter::write_own(PyObject* object) {
    add_or_tell(object, Owned<>::steal(PyObject_Repr(object)));
}

bool ReprWriter::write_plain(PyObject* object) {
    const auto most = static_cast<Py_ssize_t>(text_.room() + 1);
    if (PyLong_Check(object) && writes_like(object, PyLong_Type)) {
        write_int(object);
    } else if (PyUnicode_Check(object) && writes_like(object, PyUnicode_Type)) {
        const auto head = Owned<>::steal(PyUnicode_Substring(object, 0, most));
        add_or_tell(object, Owned<>::steal(head ? PyObject_Repr(head.get()) : nullptr));
    } else if (PyBytes_Check(object) && writes_like(object, PyBytes_Type)) {
        write_bytes(object, PyBytes_AS_STRING(object), Py_SIZE(object));
    } else if (PyByteArray_Check(object) && writes_like(object, PyByteArray_Type)) {
        add(std::string(Py_TYPE(object)->tp_name) + "(");
        write_bytes(object, PyByteArray_AS_STRING(object), Py_SIZE(object));
        add(")");
    } else {
        return false;
    }
    return true;
}

void ReprWriter::write_int(PyObject* object) {
    const auto bits = Owned<>::steal(
        PyObject_CallMethod(as_object(&PyLong_Type), "bit_length", "(O)", object));
    const Py_ssize_t length = bits ? PyLong_AsSsize_t(bits.get()) : -1;
    auto digits =
        Owned<>::steal(length <= longest_int ? PyLong_Type.tp_repr(object) : nullptr);
    TextCall::drop_exception();
    if (digits) return text_.add_str(digits.get());
    add("<int of " + std::to_string(length) + " bits>");
}

void ReprWriter::write_bytes(PyObject* object, const char* from, Py_ssize_t size) {
    const auto most = static_cast<Py_ssize_t>(text_.room());
    const auto head =
        Owned<>::steal(PyBytes_FromStringAndSize(from, std::min(size, most)));
    add_or_tell(object, Owned<>::steal(head ? PyObject_Repr(head.get()) : nullptr));
}

void ReprWriter::write_items(const Parts& items) {
    bool is_first = true;
    for (const Owned<>& item : items) {
        if (!std::exchange(is_first, false)) add(", ");
        write(item.get());
    }
}

void ReprWriter::write_pairs(const Parts& pairs) {
    for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
        if (i > 0) add(", ");
        write(pairs[i].get());
        add(": ");
        write(pairs[i + 1].get());
    }
}

ReprWriter::Parts ReprWriter::items_of(PyObject* list_or_tuple) const {
    Parts parts;
    const auto size = static_cast<size_t>(Py_SIZE(list_or_tuple));
    for (size_t i = 0; i < std::min(size, text_.max_parts()); ++i) {
        parts.push_back(Owned<>::share(PySequence_Fast_ITEMS(list_or_tuple)[i]));
    }
    return parts;
}

ReprWriter::Parts ReprWriter::elements_of(PyObject* set) const {
    Parts parts;
    Py_ssize_t position = 0;
    PyObject* element = nullptr;
    while (parts.size() < text_.max_parts() &&
           next_set_entry(set, &position, &element)) {
        parts.push_back(Owned<>::share(element));
    }
    return parts;
}

ReprWriter::Parts ReprWriter::pairs_of(PyObject* dict) const {
    Parts parts;
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    while (parts.size() < text_.max_parts() &&
           PyDict_Next(dict, &position, &key, &value)) {
        parts.push_back(Owned<>::share(key));
        parts.push_back(Owned<>::share(value));
    }
    return parts;
}

ReprWriter::Parts ReprWriter::first_of(PyObject* object) const {
    Parts parts;
    const auto iterator = Owned<>::steal(PyObject_GetIter(object));
    while (iterator && parts.size() < text_.max_parts()) {
        auto item = Owned<>::steal(PyIter_Next(iterator.get()));
        if (!item) break;
        parts.push_back(std::move(item));
    }
    TextCall::drop_exception();
    return parts;
}

ReprWriter::Parts ReprWriter::mapped_by(PyObject* mapping) const {
    Parts parts;
    for (Owned<>& key : first_of(mapping)) {
        auto value = Owned<>::steal(PyObject_GetItem(mapping, key.get()));
        if (!value) break;
        parts.push_back(std::move(key));
        parts.push_back(std::move(value));
    }
    TextCall::drop_exception();
    return parts;
}

bool ReprWriter::write_builtin(PyObject* object) {
    if (PyList_Check(object) && writes_like(object, PyList_Type)) {
        const Parts items = items_of(object);
        enclose(object, "[", "]", [&] { write_items(items); });
    } else if (PyTuple_Check(object) && writes_like(object, PyTuple_Type)) {
        const Parts items = items_of(object);
        enclose(object, "(", items.size() == 1 ? ",)" : ")",
                [&] { write_items(items); });
    } else if (PyDict_Check(object) && writes_like(object, PyDict_Type)) {
        const Parts pairs = pairs_of(object);
        enclose(object, "{", "}", [&] { write_pairs(pairs); });
    } else if (PyAnySet_Check(object) && writes_like(object, PySet_Type)) {
        write_set(object);
    } else if (writes_like(object, PyDictKeys_Type) ||
               writes_like(object, PyDictValues_Type)) {
        const Parts items = first_of(object);
        once(object, "...", [&] {
            add(std::string(Py_TYPE(object)->tp_name) + "([");
            write_items(items);
            add("])");
        });
    } else {
        return false;
    }
    return true;
}

void ReprWriter::write_set(PyObject* object) {
    const std::string name = Py_TYPE(object)->tp_name;
    const Parts items = elements_of(object);
    if (items.empty()) return add(name + "()");
    const bool is_set = PySet_CheckExact(object);
    once(object, name + "(...)", [&] {
        add(is_set ? "{" : name + "({");
        write_items(items);
        add(is_set ? "}" : "})");
    });
}

}  // namespace guardtree
