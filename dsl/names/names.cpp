// Finds objects by name in the dicts of modules and types.
// SPDX-License-Identifier: MIT
#include "names.h"

#include "../../framelocals/attributes.h"
#include "../../framelocals/exception.h"
#include "../../framelocals/no_memory.h"
#include "../../guards/objects/constant.h"
#include "../../guards/objects/static_attribute.h"
#include "../../guards/objects/sys_modules.h"

namespace guardtree {
namespace {

bool is_text(PyObject* object) noexcept {
    return object && PyUnicode_CheckExact(object);
}

/// The module and name of a type. Builtin types store the module in their C name.
bool name_type(PyTypeObject* type, ObjectName& to) {
    const auto path = Owned<>::steal(PyType_GetQualName(type));
    if (!is_text(path.get())) {
        drop_exception();
        return false;
    }
    to.path = utf8(path.get());
    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
        const std::string_view name = type->tp_name;
        const size_t dot = name.rfind('.');
        to.module = dot == name.npos ? "builtins" : std::string(name.substr(0, dot));
        return true;
    }
    const Owned<> dict = type_dict(type);
    const Owned<> key = interned_name("__module__");
    const Borrowed<> module = find_name(dict.get(), key.get());
    if (!is_text(module.get())) return false;
    to.module = utf8(module.get());
    return true;
}

bool name_function(PyObject* function, ObjectName& to) {
    const auto* parts = reinterpret_cast<PyFunctionObject*>(function);
    if (!is_text(parts->func_module) || !is_text(parts->func_qualname)) return false;
    to = {utf8(parts->func_module), utf8(parts->func_qualname)};
    return true;
}

bool name_c_function(PyObject* function, ObjectName& to) {
    const auto* parts = reinterpret_cast<PyCFunctionObject*>(function);
    if (!is_text(parts->m_module)) return false;
    to = {utf8(parts->m_module), parts->m_ml->ml_name};
    return true;
}

bool name_module(PyObject* module, ObjectName& to) {
    const Owned<> key = interned_name("__name__");
    const Borrowed<> name = find_name(PyModule_GetDict(module), key.get());
    if (!is_text(name.get())) return false;
    to = {utf8(name.get()), {}};
    return true;
}

/// The name in the module `types`, for a type that has none in its own module:
/// NoneType, FunctionType. If there are several, the alphabetically first.
bool name_in_types(PyObject* object, ObjectName& to) {
    const Owned<> module =
        PyType_Check(object) ? find_object({"types", ""}) : Owned<>();
    if (!module || !PyModule_Check(module.get())) return false;
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    to = {};
    while (PyDict_Next(PyModule_GetDict(module.get()), &position, &key, &value)) {
        if (value != object || !PyUnicode_CheckExact(key)) continue;
        std::string name = utf8(key);
        if (to.path.empty() || name < to.path) to = {"types", std::move(name)};
    }
    return !to.path.empty();
}

bool say_name(PyObject* object, ObjectName& to) {
    if (PyType_Check(object))
        return name_type(reinterpret_cast<PyTypeObject*>(object), to);
    if (PyFunction_Check(object)) return name_function(object, to);
    if (PyCFunction_Check(object)) return name_c_function(object, to);
    return PyModule_Check(object) && name_module(object, to);
}

}  // namespace

std::string ObjectName::text() const {
    if (path.empty()) return module;
    return module == "builtins" ? path : module + "." + path;
}

Owned<> interned_name(std::string_view text) {
    PyObject* name =
        PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
    if (!name) {
        drop_exception();  // not UTF-8, so no object has such a name
        return {};
    }
    PyUnicode_InternInPlace(&name);
    return Owned<>::steal(name);
}

Owned<> find_member(PyObject* object, std::string_view name) {
    const Owned<> key = interned_name(name);
    if (!key) return {};
    if (PyModule_Check(object)) {
        return Owned<>::share(find_name(PyModule_GetDict(object), key.get()).get());
    }
    if (!PyType_Check(object)) return {};
    auto* type = reinterpret_cast<PyTypeObject*>(object);
    return Owned<>::share(find_in_mro(type, key.get()).get());
}

Owned<> find_object(const ObjectName& name) {
    const ExceptionPause pause;
    const Owned<> key = interned_name(name.module);
    if (!key) return {};
    Owned<> found =
        Owned<>::share(find_name(sys_modules(), key.get()).get());
    std::string_view rest = name.path;
    while (found && !rest.empty()) {
        const size_t dot = rest.find('.');
        found = find_member(found.get(), rest.substr(0, dot));
        rest = dot == rest.npos ? std::string_view() : rest.substr(dot + 1);
    }
    return found;
}

bool name_object(PyObject* object, ObjectName& to) {
    const ExceptionPause pause;
    ObjectName name;
    const bool is_found = say_name(object, name) && find_object(name).get() == object;
    if (!is_found && !name_in_types(object, name)) return false;
    to = std::move(name);
    return true;
}

}  // namespace guardtree
