// The names of objects, by which written trees refer to types and functions.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <string>
#include <string_view>

#include "../../framelocals/ref.h"

namespace guardtree {

/// A text as an interned str. Null, without an exception, if it is not UTF-8.
Owned<> interned_name(std::string_view text);

/// A name: "collections", "OrderedDict.fromkeys". Without a path it is the module
/// itself.
struct ObjectName {
    std::string module;
    std::string path;

    /// As Python text: "int", "collections.OrderedDict".
    std::string text() const;
};

/// The object with this name, as a new reference. Null, without an exception, if there
/// is none. Only modules in sys.modules are searched, and only the dicts of modules and
/// types are read: nothing is imported and no user code runs.
Owned<> find_object(const ObjectName& name);

/// The name by which find_object finds this very object: for modules, types, and
/// functions of modules and classes. Returns false for all other objects, and if
/// another object has that name now. Runs no user code.
bool name_object(PyObject* object, ObjectName& to);

/// One step of find_object: the value of `name` in the dict of a module, or in the
/// dicts of a type's MRO. Null if there is none, or `object` is neither.
Owned<> find_member(PyObject* object, std::string_view name);

/// True for objects that are the only instance of their type and have a literal: None,
/// True, False and Ellipsis.
inline bool is_singleton(PyObject* object) noexcept {
    return object == Py_None || object == Py_True || object == Py_False ||
           object == Py_Ellipsis;
}

}  // namespace guardtree
