// The repr() of guardtree's objects.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include "../bindings.h"
#include "../guard_manager.h"

namespace guardtree {
namespace {

/// "1 hit", "2 hits".
std::string counted(size_t count, const char* one, const char* more) {
    return std::to_string(count) + " " + (count == 1 ? one : more);
}

std::string hits_of(const py::object& self) {
    return counted(self.attr("hits").cast<size_t>(), "hit", "hits");
}

/// The qualified name of a function or code object. For other objects, their short
/// repr.
std::string name_of(const py::object& runs) {
    if (PyCode_Check(runs.ptr()) || PyFunction_Check(runs.ptr())) {
        const bool is_code = PyCode_Check(runs.ptr());
        const py::object name = runs.attr(is_code ? "co_qualname" : "__qualname__");
        return name.cast<std::string>();
    }
    return short_repr(runs.ptr());
}

/// The name of the type that Tell describes.
template <class Tell>
const char* type_name = nullptr;

/// `tell` may raise, because an object without a call of __init__ is empty.
template <class Tell>
void define_repr(py::module_& module, const char* name, Tell) {
    type_name<Tell> = name;
    const auto text = [](const py::object& self) {
        const std::string type = std::string("guardtree.") + type_name<Tell>;
        try {
            return "<" + type + Tell{}(self) + ">";
        } catch (py::error_already_set& error) {
            if (!error.matches(PyExc_TypeError)) throw;
            return "<" + type + " that was not initialised>";
        }
    };
    define(module.attr(name), "__repr__", text);
}

}  // namespace

void bind_reprs(py::module_& module) {
    define_repr(module, "GuardedCode", [](const py::object& self) {
        return ": runs " + name_of(self.attr("code"));
    });
    define_repr(module, "CacheEntry", [](const py::object& self) {
        return ": runs " + name_of(self.attr("code")) + ", " + hits_of(self);
    });
    define_repr(module, "Table", [](const py::object& self) {
        return ": " + counted(py::len(self), "entry", "entries");
    });
    define_repr(module, "TableEntry", [](const py::object& self) {
        return ": gives " + name_of(self.attr("payload")) + ", " + hits_of(self);
    });
    define_repr(module, "GuardedFunction", [](const py::object& self) {
        return " of " + name_of(self.attr("function")) + ": " +
               counted(py::len(self), "entry", "entries");
    });
    define_repr(module, "Dispatcher", [](const py::object& self) {
        return " of " + self.attr("_name").cast<std::string>() + ": " +
               counted(py::len(self), "entry", "entries");
    });
    define_repr(module, "GuardProfile", [](const py::object& self) {
        const auto checks = self.attr("checks").cast<size_t>();
        return ": " + counted(checks, "check", "checks") + ", " +
               std::to_string(self.attr("passed").cast<size_t>()) + " passed";
    });
}

}  // namespace guardtree
