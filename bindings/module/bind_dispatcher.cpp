// Python's Dispatcher: what it is made of, and its methods.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include "../bindings.h"
#include "../dispatch/dispatcher.h"
#include "../dispatch/guarded_entries.h"
#include "../function.h"
#include "../guard_manager.h"

namespace guardtree {

GuardedCalls* calls_of_dispatcher(py::handle self) {
    const DispatcherObject* found = find_dispatcher(self);
    if (!found) return nullptr;
    if (!found->calls) refuse_uninitialised();
    return found->calls.get();
}

namespace {

DispatchedCalls& calls_of_self(const py::object& self) {
    const DispatcherObject* found = find_dispatcher(self);
    if (!found || !found->calls) refuse_uninitialised();
    return *found->calls;
}

/// (function, what runs plain or None, attributes) of what a Dispatcher is made for.
py::tuple underlying(py::handle signature) {
    return py::module_::import("guardtree.dispatch").attr("underlying")(signature);
}

struct Initialise {
    void operator()(py::handle self, py::handle signature, py::handle on_miss,
                    py::handle entry_limit, py::handle when_full) const {
        DispatcherObject* object = find_dispatcher(self);
        if (!object) refuse_uninitialised();
        if (object->calls) refuse_again();
        Owned<> asked = read_on_miss(on_miss);
        const py::tuple parts = underlying(signature);
        const py::object function = parts[0], plain = parts[1], attributes = parts[2];
        auto made = DispatchedCalls::make(
            reinterpret_cast<PyFunctionObject*>(function.ptr()),
            plain.is_none() ? nullptr : plain.ptr());
        if (!made) throw py::error_already_set();
        set_limits(*made, entry_limit, when_full);
        made->on_miss.swap(asked);
        if (object->calls) refuse_again();  // user code of the signature did it
        py::setattr(self, "__dict__", attributes);
        made->owner = self.ptr();
        object->calls = std::move(made);
    }
};

py::object name_of_dispatcher(const py::object& self) {
    PyFunctionObject* function = calls_of_self(self).function();
    return py::reinterpret_borrow<py::object>(function->func_qualname);
}

/// For pickle: a global of this name, as functions are pickled.
py::object reduce(const py::object& self) {
    const py::object attributes = self.attr("__dict__");
    const py::object name = attributes.attr("get")("__qualname__");
    if (!name.is_none()) return name;
    throw py::type_error(
        "a Dispatcher is pickled as the global that it is, by the name of the function "
        "below it, and there is none below this one: pickle what makes it");
}

}  // namespace

void bind_dispatcher(py::module_& module) {
    const py::object type = make_dispatcher_type(module);
    set_dispatcher_initialiser(make_method(
        type, "Dispatcher", Initialise{}, py::arg("signature"),
        py::arg("on_miss") = py::none(), py::kw_only(), py::arg("entry_limit") = 1024,
        py::arg("when_full") = "evict"));
    bind_entries(type);
    define(type, "__reduce__", calling<&reduce>,
           "The name of the global that it is, as for a function.");
    define_property(
        type, "original",
        [](const py::object& self) {
            return object_or_none(calls_of_self(self).plain());
        },
        "What runs calls that no entry serves: the function or callable that it was "
        "made for; None of a signature or code.");
    define_property(type, "_name", calling<&name_of_dispatcher>, "For repr.");
    answer_misses();
}

}  // namespace guardtree
