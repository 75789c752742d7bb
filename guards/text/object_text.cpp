// Objects as text: by their qualified name or by their repr.
// SPDX-License-Identifier: MIT
#include "object_text.h"

#include <algorithm>

#include "../../framelocals/exception.h"
#include "../../framelocals/no_memory.h"

#include "diagnostic.h"

namespace guardtree {
namespace {

/// `module.Qualified.name`, without the module for builtins. Empty if there is none.
std::string qualified_name(PyObject* object) {
    auto name = attribute_of(object, "__qualname__");
    if (!name || !PyUnicode_Check(name.get())) {
        drop_exception();
        return {};
    }
    auto module = attribute_of(object, "__module__");
    drop_exception();
    std::string text = utf8(name.get());
    if (!module || !PyUnicode_Check(module.get())) return text;
    const std::string prefix = utf8(module.get());
    return prefix == "builtins" ? text : prefix + "." + text;
}

}  // namespace

std::string utf8(PyObject* text) {
    Py_ssize_t size = 0;
    const char* data = text ? PyUnicode_AsUTF8AndSize(text, &size) : nullptr;
    if (data) return {data, static_cast<size_t>(size)};
    drop_exception();
    return "?";
}

void refuse_operand(Diagnostic& problem, const char* expects, PyObject* found) {
    problem = {PyExc_TypeError,
               "expected " + std::string(expects) + ", found " + found_text(found)};
}

std::string note_text(PyObject* note) {
    if (!PyUnicode_CheckExact(note)) return short_repr(note);
    std::string text = utf8(note);
    std::ranges::replace(text, '\n', ' ');
    return text;
}

std::string found_text(PyObject* object) {
    if (PyType_Check(object)) return short_repr(object);
    return short_repr(object) + " (" + Py_TYPE(object)->tp_name + ")";
}

Owned<> attribute_of(PyObject* object, const char* name) noexcept {
    const auto interned = Owned<>::steal(PyUnicode_InternFromString(name));
    return Owned<>::steal(interned ? PyObject_GetAttr(object, interned.get())
                                   : nullptr);
}

std::string reference_text(PyObject* object) {
    // The name of a bound method leads to a function, and that of `[].append` to a
    // descriptor. So only functions of modules are shown by name.
    const bool has_name =
        PyType_Check(object) || PyFunction_Check(object) ||
        (PyCFunction_Check(object) && (!PyCFunction_GET_SELF(object) ||
                                       PyModule_Check(PyCFunction_GET_SELF(object))));
    const std::string name = has_name ? qualified_name(object) : "";
    return name.empty() ? short_repr(object) : name;
}

}  // namespace guardtree
