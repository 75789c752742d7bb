// Python types of our own whose objects hold a C++ object, and pybind11's view of them.
// SPDX-License-Identifier: MIT
//
// No pybind11 classes: pybind11 does not look whether there was memory for an instance,
// and keeps each one in a map, which costs 200 ns. A class T that Python sees says
// GUARDTREE_BOXED(T, "Name") in its header; functions then take `const T&` and return
// T. T::traverse and T::clear, where it has them, are the garbage collector's.
#pragma once
#include <cstddef>
#include <optional>

#include <pybind11/pybind11.h>
#include <structmember.h>

#include "bindings.h"

namespace guardtree {

/// What Python calls a class; GUARDTREE_BOXED says it.
template <class T>
struct BoxedName;

/// What CPython reads of such an object: in C's own layout.
struct BoxHead {
    PyObject base;
    PyObject* weak_references;
};

/// A T in a Python object; nothing between __new__ and __init__.
template <class T>
struct Box : BoxHead {
    std::optional<T> value;

    static inline PyTypeObject* type = nullptr;
    static inline PyObject* initialiser = nullptr;  ///< called with self

    static Box* of(PyObject* self) noexcept { return reinterpret_cast<Box*>(self); }

    /// The T, or null for another object, or one that was not initialised.
    static T* find(PyObject* object) noexcept {
        if (!PyObject_TypeCheck(object, type) || !of(object)->value) return nullptr;
        return &*of(object)->value;
    }

    /// A Python object that holds nothing yet; null with MemoryError.
    static PyObject* make_empty(PyTypeObject* exact) noexcept {
        PyObject* self = exact->tp_alloc(exact, 0);
        if (self) new (&of(self)->value) std::optional<T>();
        return self;
    }

    /// A new Python object.
    template <class... Arguments>
    static py::object make(Arguments&&... arguments) {
        auto made = py::reinterpret_steal<py::object>(make_empty(type));
        if (!made) throw py::error_already_set();
        of(made.ptr())->value.emplace(std::forward<Arguments>(arguments)...);
        return made;
    }
};

[[noreturn]] inline void refuse_uninitialised() {
    throw py::type_error("this object was not initialised: call its class");
}

/// The C++ object of a T. TypeError where `self` is no T, or was made by __new__ alone.
template <class T>
T& initialised(py::handle self) {
    if (T* found = Box<T>::find(self.ptr())) return *found;
    refuse_uninitialised();
}

namespace boxed_detail {

template <class T>
PyObject* refuse_making(PyTypeObject*, PyObject*, PyObject*) noexcept {
    PyErr_Format(PyExc_TypeError, "%s objects are made by guardtree alone",
                 BoxedName<T>::text);
    return nullptr;
}

template <class T>
PyObject* make_new(PyTypeObject* exact, PyObject*, PyObject*) noexcept {
    return Box<T>::make_empty(exact);
}

/// Calls `initialiser(self, *arguments, **keywords)`.
int initialise(PyObject* initialiser, PyObject* self, PyObject* arguments,
               PyObject* keywords) noexcept;

template <class T>
void free_object(PyObject* self) noexcept {
    PyObject_GC_UnTrack(self);
    if (Box<T>::of(self)->weak_references) PyObject_ClearWeakRefs(self);
    Box<T>::of(self)->value.~optional();
    const auto type = Owned<PyTypeObject>::steal(Py_TYPE(self));
    type.get()->tp_free(self);
}

template <class T>
int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
    Py_VISIT(Py_TYPE(self));
    if constexpr (requires(const T& value) { value.traverse(visit, arg); }) {
        if (const auto& value = Box<T>::of(self)->value)
            return value->traverse(visit, arg);
    }
    return 0;
}

template <class T>
int clear(PyObject* self) noexcept {
    if constexpr (requires(T& value) { value.clear(); }) {
        if (auto& value = Box<T>::of(self)->value) value->clear();
    }
    return 0;
}

/// What pybind11 asks of a class: no copy, a pointer into the Python object.
template <class T>
struct Caster {
    template <class U>
    using cast_op_type = py::detail::cast_op_type<U>;

    bool load(py::handle from, bool) {
        value = Box<T>::find(from.ptr());
        if (!value && PyObject_TypeCheck(from.ptr(), Box<T>::type))
            refuse_uninitialised();
        return value != nullptr;
    }

    static py::handle cast(T given, py::return_value_policy, py::handle) {
        return Box<T>::make(std::move(given)).release();
    }

    operator T*() { return value; }

    operator T&() { return *value; }

    T* value = nullptr;
};

/// Makes the type; `make`: its __new__.
py::object make_type(py::module_& module, const char* name, const char* documentation,
                     size_t size, unsigned flags, newfunc make, initproc initialise,
                     destructor free, traverseproc traverse, inquiry clear);

}  // namespace boxed_detail

/// Puts a method of pybind11's on a type that is not one of its classes. Any `self` may
/// come.
template <class Function, class... Extra>
void define(py::handle type, const char* name, Function&& function,
            const Extra&... extra) {
    const py::cpp_function method(
        std::forward<Function>(function), py::name(name), py::is_method(type),
        py::sibling(py::getattr(type, name, py::none())), extra...);
    py::setattr(type, name, method);
}

/// The same for a read-only property.
template <class Function>
void define_property(py::handle type, const char* name, Function&& function,
                     const char* documentation) {
    const py::cpp_function getter(std::forward<Function>(function),
                                  py::is_method(type));
    const py::object property = py::module_::import("builtins").attr("property");
    py::setattr(type, name, property(getter, py::none(), py::none(), documentation));
}

/// What may be done to a type besides what guardtree does.
enum class Made { by_guardtree, by_guardtree_final, by_calling };

/// Makes the Python type of T and puts it into the module; then defines its methods,
/// as py::class_ does.
template <class T>
class BoxedClass : public py::object {
public:
    BoxedClass(py::module_& module, Made made, const char* documentation)
        : py::object(boxed_detail::make_type(
              module, BoxedName<T>::text, documentation, sizeof(Box<T>),
              made == Made::by_guardtree_final ? 0 : Py_TPFLAGS_BASETYPE,
              made == Made::by_calling ? boxed_detail::make_new<T>
                                       : boxed_detail::refuse_making<T>,
              [](PyObject* self, PyObject* arguments, PyObject* keywords) {
                  return boxed_detail::initialise(Box<T>::initialiser, self, arguments,
                                                  keywords);
              },
              boxed_detail::free_object<T>, boxed_detail::traverse<T>,
              boxed_detail::clear<T>)) {
        Box<T>::type = reinterpret_cast<PyTypeObject*>(ptr());
    }

    /// `make(arguments...)` is what __init__ puts into the object.
    template <class... Arguments, class... Extra>
    BoxedClass& def_init(T (*make)(Arguments...), const Extra&... extra) {
        const auto initialise = [make](py::handle self, Arguments... arguments) {
            auto& value = Box<T>::of(self.ptr())->value;
            if (value)
                throw py::type_error(
                    "this object is initialised already; make another");
            T made = make(std::forward<Arguments>(arguments)...);
            value.emplace(std::move(made));
        };
        // pybind11 takes what is named __init__ for one of its constructors.
        Box<T>::initialiser = py::cpp_function(initialise, py::name(BoxedName<T>::text),
                                               py::is_method(*this), extra...)
                                  .release()
                                  .ptr();
        return *this;
    }

    template <class Function, class... Extra>
    BoxedClass& def(const char* name, Function&& function, const Extra&... extra) {
        if constexpr (std::is_member_function_pointer_v<std::decay_t<Function>>)
            define(*this, name, py::method_adaptor<T>(function), extra...);
        else
            define(*this, name, std::forward<Function>(function), extra...);
        return *this;
    }

    template <class Function>
    BoxedClass& def_property_readonly(const char* name, Function&& function,
                                      const char* documentation = "") {
        if constexpr (std::is_member_function_pointer_v<std::decay_t<Function>>)
            define_property(*this, name, py::method_adaptor<T>(function),
                            documentation);
        else
            define_property(*this, name, std::forward<Function>(function),
                            documentation);
        return *this;
    }

    /// Of the class, too.
    template <class Function>
    BoxedClass& def_property_readonly_static(const char* name, Function&& function,
                                             const char* documentation) {
        const py::handle property =
            as_object(py::detail::get_internals().static_property_type);
        py::setattr(*this, name,
                    property(py::cpp_function(std::forward<Function>(function)),
                             py::none(), py::none(), documentation));
        return *this;
    }

    template <class Member>
    BoxedClass& def_readonly(const char* name, Member T::* member,
                             const char* documentation = "") {
        return def_property_readonly(
            name, [member](const T& self) { return self.*member; }, documentation);
    }
};

}  // namespace guardtree

/// Outside namespaces, after T and before what hands one to Python or takes one.
#define GUARDTREE_BOXED(T, NAME)                                                  \
    template <>                                                                   \
    struct guardtree::BoxedName<T> {                                              \
        static constexpr char text[] = NAME;                                      \
    };                                                                            \
    template <>                                                                   \
    struct pybind11::detail::type_caster<T> : guardtree::boxed_detail::Caster<T> { \
        static constexpr auto name = const_name("guardtree._guardtree." NAME);    \
    };
