// Objects by name: what a tree that is written down says of types and functions.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <string>
#include <string_view>

#include "../../framelocals/ref.h"

namespace guardtree {

/// A text as an interned str; null, without an exception, when it is not UTF-8.
Owned<> interned_name(std::string_view text);

/// Where an object is found: "collections", "OrderedDict.fromkeys". Without a path it
/// is the module itself.
struct ObjectName {
    std::string module;
    std::string path;

    /// As Python text: "int", "collections.OrderedDict".
    std::string text() const;
};

/// The object that a name leads to, a new reference; null, without an exception, when
/// there is none. Only modules in sys.modules are looked into, and only the dicts of
/// modules and types: nothing is imported, no user code runs.
Owned<> find_object(const ObjectName& name);

/// The name by which find_object finds this very object: for modules, types and
/// functions of modules and classes. False for all others, and for what another object
/// has taken the name of. No user code.
bool name_object(PyObject* object, ObjectName& to);

/// One step of find_object: what the dict of a module, or those of a type's MRO, have
/// under `name`. Null when there is nothing, or `object` is neither.
Owned<> find_member(PyObject* object, std::string_view name);

/// True for the objects that Python has a literal of and only one of: None, True, False
/// and Ellipsis.
inline bool is_singleton(PyObject* object) noexcept {
    return object == Py_None || object == Py_True || object == Py_False ||
           object == Py_Ellipsis;
}

}  // namespace guardtree
