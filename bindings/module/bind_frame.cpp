// The Python type Frame: the attributes of a frame that is about to run.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include "../../framelocals/no_memory.h"
#include "../bindings.h"
#include "../frame.h"
#include "../guarded_code.h"

namespace guardtree {
namespace {

py::object f_locals(const FrameHandle& frame) {
    const Shared<KeptView> view = frame.view();
    PyObject* locals = view->f_locals().get();
    if (!locals) throw py::error_already_set();
    return object_or_none(locals);
}

py::object module_name(const FrameHandle& frame) {
    const Shared<KeptView> view = frame.view();
    PyObject* globals = view->globals().get();
    return object_or_none(item_by_name(globals, "__name__"));
}

std::string representation(const FrameHandle& frame) {
    if (!frame.is_open()) return "<guardtree.Frame of a callback that is over>";
    const Shared<KeptView> view = frame.view();
    PyCodeObject* code = view->code().get();
    return "<guardtree.Frame about to run " +
           py::str(py::handle(code->co_qualname)).cast<std::string>() + ">";
}

}  // namespace

FrameHandle::FrameHandle(const View& frame, PyCodeObject* outer)
    : view_(KeptView::of(frame)), outer_(outer) {
    if (!view_) throw py::error_already_set();
}

Shared<KeptView> FrameHandle::view() const {
    if (view_) return view_;
    throw std::runtime_error(
        "this frame was given to a callback that is over, and has run since; keep what "
        "you need of it (f_code, values of f_locals) instead");
}

FrameHandle* FrameHandle::from_python(PyObject* object) noexcept {
    if (Py_TYPE(object) != Box<FrameHandle>::type) return nullptr;
    return &*Box<FrameHandle>::of(object)->value;
}

OpenFrame::OpenFrame(const View& view)
    : object_(py::cast(FrameHandle(view, code_in_callback()))),
      handle_(FrameHandle::from_python(object_.ptr())) {}

void bind_frame(py::module_& module) {
    BoxedClass<FrameHandle> frame(
        module, Made::by_guardtree_final,
        "The frame given to a callback: about to run, so f_lasti is 0 and f_lineno the "
        "first line. Valid while the callback runs; using it later raises "
        "RuntimeError.");
    frame
        .def_property_readonly(
            "f_code",
            [](const FrameHandle& self) {
                return object_or_none(as_object(self.view()->code().get()));
            },
            "The code object that is about to run.")
        .def_property_readonly("f_locals", calling<&f_locals>,
                               "Locals as locals() would give them at the first "
                               "instruction: for functions a dict made at the first "
                               "request (a snapshot: writing to it changes nothing), "
                               "for class bodies and modules their namespace itself.")
        .def_property_readonly("f_globals",
                               [](const FrameHandle& self) {
                                   return object_or_none(self.view()->globals().get());
                               })
        .def_property_readonly("f_builtins",
                               [](const FrameHandle& self) {
                                   return object_or_none(self.view()->builtins().get());
                               })
        .def_property_readonly("f_lasti",
                               [](const FrameHandle& self) {
                                   self.view();
                                   return 0;
                               })
        .def_property_readonly("f_lineno",
                               [](const FrameHandle& self) {
                                   return self.view()->code().get()->co_firstlineno;
                               })
        .def_property_readonly(
            "closure",
            [](const FrameHandle& self) {
                return object_or_none(self.view()->closure().get());
            },
            "The function's cells, or None.")
        .def_property_readonly(
            "function",
            [](const FrameHandle& self) {
                return object_or_none(self.view()->function().get());
            },
            "The function that is called.")
        .def("__repr__", calling<&representation>);
}

void bind_frame_module_name(py::module_& module) {
    // `Frame.__module__` is a str, which inspect and pydoc use to sort. `__module__` of
    // a frame is the module of its globals.
    py::dict names;
    names["__get__"] = make_function(
        module, "__get__",
        [](const py::object& self, py::handle frame, py::handle) -> py::object {
            const FrameHandle* handle = FrameHandle::from_python(frame.ptr());
            return handle ? module_name(*handle) : self;
        },
        py::arg("self"), py::arg("frame"), py::arg("type") = py::none());
    const auto type = py::reinterpret_borrow<py::object>(as_object(&PyType_Type));
    const auto text = py::reinterpret_borrow<py::object>(as_object(&PyUnicode_Type));
    const py::object name = type("ModuleName", py::make_tuple(text), names);
    module.attr("Frame").attr("__module__") = name("guardtree._guardtree");
}

}  // namespace guardtree
