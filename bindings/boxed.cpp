// Creates the Python types of boxed objects.
// SPDX-License-Identifier: MIT
#include "boxed.h"

namespace guardtree::boxed_detail {
namespace {

template <class Function>
void* slot(Function* function) noexcept {
    return reinterpret_cast<void*>(function);
}

PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET,
                          offsetof(BoxHead, weak_references), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

}  // namespace

int initialise(PyObject* initialiser, PyObject* self, PyObject* arguments,
               PyObject* keywords) noexcept {
    const auto head = Owned<>::steal(PyTuple_Pack(1, self));
    if (!head) return -1;
    const auto all = Owned<>::steal(PySequence_Concat(head.get(), arguments));
    if (!all) return -1;
    const auto none =
        Owned<>::steal(PyObject_Call(initialiser, all.get(), keywords));
    return none ? 0 : -1;
}

py::object make_type(py::module_& module, const char* name, const char* documentation,
                     size_t size, unsigned flags, newfunc make, initproc initialise,
                     destructor free, traverseproc traverse, inquiry clear) {
    PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(documentation)},
                           {Py_tp_new, slot(make)},
                           {Py_tp_init, slot(initialise)},
                           {Py_tp_dealloc, slot(free)},
                           {Py_tp_traverse, slot(traverse)},
                           {Py_tp_clear, slot(clear)},
                           {Py_tp_members, members},
                           {0, nullptr}};
    const std::string full_name = std::string("guardtree._guardtree.") + name;
    PyType_Spec spec = {full_name.c_str(), static_cast<int>(size), 0,
                        static_cast<unsigned>(Py_TPFLAGS_DEFAULT) |
                            static_cast<unsigned>(Py_TPFLAGS_HAVE_GC) | flags,
                        slots};
    auto type = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
    if (!type) throw py::error_already_set();
    module.attr(name) = type;
    return type;
}

}  // namespace guardtree::boxed_detail
