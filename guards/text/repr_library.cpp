// Writes the repr of types and generated classes of the standard library.
// SPDX-License-Identifier: MIT
#include "../../framelocals/no_memory.h"

#include "object_text.h"
#include "repr_writer.h"

namespace guardtree {
namespace {

/// A type of an imported module. Null if the module is not imported.
Owned<> type_in(const char* module, const char* name) {
    const auto text = Owned<>::steal(PyUnicode_FromString(module));
    const auto found = Owned<>::steal(text ? PyImport_GetModule(text.get()) : nullptr);
    auto type = found ? attribute_of(found.get(), name) : Owned<>();
    TextCall::drop_exception();
    return type && PyType_Check(type.get()) ? std::move(type) : Owned<>();
}

bool writes_like(PyObject* object, const Owned<>& type) noexcept {
    return type && Py_TYPE(object)->tp_repr ==
                       reinterpret_cast<PyTypeObject*>(type.get())->tp_repr;
}

/// The type's name without its module.
std::string name_of(PyObject* object) {
    const std::string name = Py_TYPE(object)->tp_name;
    const size_t dot = name.rfind('.');
    return dot == name.npos ? name : name.substr(dot + 1);
}

/// The qualified name of a Python function's code. Empty if there is none.
std::string origin_of(PyObject* function) {
    const auto code = attribute_of(function, "__code__");
    const auto name = code ? attribute_of(code.get(), "co_qualname") : Owned<>();
    TextCall::drop_exception();
    return name && PyUnicode_Check(name.get()) ? utf8(name.get()) : "";
}

}  // namespace

/// Types of the standard library that are written in C.
bool ReprWriter::write_library(PyObject* object) {
    if (PyODict_Check(object) && writes_like(object, PyODict_Type)) {
        const Parts pairs = mapped_by(object);
        if (pairs.empty()) {
            add(name_of(object) + "()");
            return true;
        }
        enclose(object, name_of(object) + "({", "})", [&] { write_pairs(pairs); });
    } else if (Py_IS_TYPE(object, &PyDictProxy_Type)) {
        const Parts pairs = mapped_by(object);
        enclose(object, "mappingproxy({", "})", [&] { write_pairs(pairs); });
    } else if (PyDict_Check(object) &&
               writes_like(object, type_in("collections", "defaultdict"))) {
        const Parts pairs = pairs_of(object);
        const auto factory = attribute_of(object, "default_factory");
        enclose(object, name_of(object) + "(", "})", [&] {
            write(factory ? factory.get() : Py_None);
            add(", {");
            write_pairs(pairs);
        });
    } else if (writes_like(object, type_in("collections", "deque"))) {
        write_deque(object);
    } else if (writes_like(object, type_in("types", "SimpleNamespace"))) {
        write_namespace(object);
    } else {
        return false;
    }
    TextCall::drop_exception();
    return true;
}

void ReprWriter::write_deque(PyObject* object) {
    const Parts items = first_of(object);
    const auto most = attribute_of(object, "maxlen");
    once(object, "[...]", [&] {
        add(name_of(object) + "([");
        write_items(items);
        add("]");
        if (most && most.get() != Py_None) {
            add(", maxlen=");
            write(most.get());
        }
        add(")");
    });
}

void ReprWriter::write_namespace(PyObject* object) {
    const auto dict = attribute_of(object, "__dict__");
    if (!dict || !PyDict_Check(dict.get())) return write_own(object);
    const std::string name =
        writes_like(object, type_in("types", "SimpleNamespace")) &&
                as_object(Py_TYPE(object)) ==
                    type_in("types", "SimpleNamespace").get()
            ? "namespace"
            : name_of(object);
    write_fields(object, name, pairs_of(dict.get()));
}

void ReprWriter::write_fields(PyObject* object, const std::string& name,
                              const Parts& fields) {
    once(object, name + "(...)", [&] {
        add(name + "(");
        for (size_t i = 0; i + 1 < fields.size(); i += 2) {
            if (i > 0) add(", ");
            write_str(fields[i].get());
            add("=");
            write(fields[i + 1].get());
        }
        add(")");
    });
}

/// Classes whose `__repr__` the standard library generates.
bool ReprWriter::write_generated(PyObject* object) {
    const Owned<> type = Owned<>::share(as_object(Py_TYPE(object)));
    if (!PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE)) return false;
    const auto function = attribute_of(type.get(), "__repr__");
    TextCall::drop_exception();
    if (!function || !PyFunction_Check(function.get())) return false;
    if (PyTuple_Check(object) &&
        origin_of(function.get()) == "namedtuple.<locals>.__repr__") {
        return write_named_tuple(object);
    }
    const auto inner = attribute_of(function.get(), "__wrapped__");
    TextCall::drop_exception();
    return inner && origin_of(inner.get()) == "__create_fn__.<locals>.__repr__" &&
           write_dataclass(object);
}

bool ReprWriter::write_named_tuple(PyObject* object) {
    const auto names = attribute_of(object, "_fields");
    TextCall::drop_exception();
    if (!names || !PyTuple_Check(names.get()) ||
        Py_SIZE(names.get()) != Py_SIZE(object)) {
        return false;
    }
    Parts fields;
    const Parts items = items_of(object);
    for (size_t i = 0; i < items.size(); ++i) {
        fields.push_back(Owned<>::share(
            PyTuple_GET_ITEM(names.get(), static_cast<Py_ssize_t>(i))));
        fields.push_back(items[i]);
    }
    write_fields(object, name_of(object), fields);
    return true;
}

bool ReprWriter::write_dataclass(PyObject* object) {
    const auto described = attribute_of(object, "__dataclass_fields__");
    const auto name =
        attribute_of(as_object(Py_TYPE(object)), "__qualname__");
    TextCall::drop_exception();
    if (!described || !PyDict_Check(described.get()) || !name) return false;
    Parts fields;
    const Parts all = pairs_of(described.get());
    for (size_t i = 0; i + 1 < all.size(); i += 2) {
        const auto is_shown = attribute_of(all[i + 1].get(), "repr");
        const auto sort = attribute_of(all[i + 1].get(), "_field_type");
        const auto sort_name =
            sort ? attribute_of(sort.get(), "name") : Owned<>();
        auto value = Owned<>::steal(PyObject_GetAttr(object, all[i].get()));
        TextCall::drop_exception();
        const bool is_field = sort_name && PyUnicode_Check(sort_name.get()) &&
                              utf8(sort_name.get()) == "_FIELD";
        if (!is_field || !value || is_shown.get() != Py_True) continue;
        fields.push_back(all[i]);
        fields.push_back(std::move(value));
    }
    write_fields(object, utf8(name.get()), fields);
    return true;
}

}  // namespace guardtree
