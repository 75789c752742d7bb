// Python types whose objects contain a C++ object, and their use in pybind11.
// SPDX-License-Identifier: MIT
//
// These are not pybind11 classes. pybind11 does not check whether there was memory for
// an instance, and keeps each instance in a map, which costs 200 ns. The header of a
// class T that Python sees contains GUARDTREE_BOXED(T, "Name"). Functions then take
// `const T&` and return T. If T has T::traverse and T::clear, the garbage collector
// calls them.
#pragma once
#include <cstddef>
#include <optional>

#include <pybind11/pybind11.h>
#include <structmember.h>

#include "bindings.h"
#include "function.h"

namespace guardtree {

/// The Python name of a class, set by GUARDTREE_BOXED.
template <class T>
struct BoxedName;

/// The part of such an object that CPython reads, in standard layout.
struct BoxHead {
    PyObject base;
    PyObject* weak_references;
};

/// A T in a Python object. It is empty between __new__ and __init__.
template <class T>
struct Box : BoxHead {
    std::optional<T> value;

    static inline PyTypeObject* type = nullptr;
    static inline PyObject* initialiser = nullptr;  ///< called with self

    static Box* of(PyObject* self) noexcept { return reinterpret_cast<Box*>(self); }

    /// The T. Null for other objects, and for one that was not initialised.
    static T* find(PyObject* object) noexcept {
        if (!PyObject_TypeCheck(object, type) || !of(object)->value) return nullptr;
        return &*of(object)->value;
    }

    /// An empty Python object. Null with MemoryError set.
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

[[noreturn]] inline void refuse_again() {
    throw py::type_error("this object is initialised already; make another");
}

/// The C++ object of a T. Throws TypeError if `self` is not a T, or was created by
/// __new__ alone.
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
    if constexpr (requires(T & value) { value.clear(); }) {
        if (auto& value = Box<T>::of(self)->value) value->clear();
    }
    return 0;
}

/// The interface that pybind11 needs to pass objects of a class to Python.
template <class T>
struct Caster {
    static py::handle cast(T given, py::return_value_policy, py::handle) {
        return Box<T>::make(std::move(given)).release();
    }
};

/// Called by __init__: stores the result of `make(arguments...)` in the object.
template <class T, class Make, Make make>
struct Initialising;

template <class T, class... Arguments, T (*make)(Arguments...)>
struct Initialising<T, T (*)(Arguments...), make> {
    void operator()(py::handle self, Arguments... arguments) const {
        auto& value = Box<T>::of(self.ptr())->value;
        if (value) refuse_again();
        T made = make(std::forward<Arguments>(arguments)...);
        if (value) refuse_again();  // user code in `make` initialised it
        value.emplace(std::move(made));
    }
};

/// Creates the type. `make` is its __new__.
py::object make_type(py::module_& module, const char* name, const char* documentation,
                     size_t size, unsigned flags, newfunc make, initproc initialise,
                     destructor free, traverseproc traverse, inquiry clear);

}  // namespace boxed_detail

template <class T>
concept IsBoxed = requires {
    BoxedName<T>::text;
};

/// A T among a function's arguments. Throws TypeError if it was not initialised.
template <IsBoxed T>
struct Argument<T> {
    static constexpr const char* expects = BoxedName<T>::expected;

    static T& read(py::handle given, ArgumentName name, const std::string& expected) {
        if (T* found = Box<T>::find(given.ptr())) return *found;
        if (PyObject_TypeCheck(given.ptr(), Box<T>::type)) refuse_uninitialised();
        refuse_argument(name, expected, given);
    }
};

/// How instances of a type are created, and whether it can be subclassed.
enum class Made { by_guardtree, by_guardtree_final, by_calling };

/// Creates the Python type of T and adds it to the module. Its methods are then defined
/// as with py::class_.
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

    /// __init__ stores the result of `make(arguments...)` in the object.
    template <auto make, class... Extra>
    BoxedClass& def_init(const Extra&... extra) {
        constexpr boxed_detail::Initialising<T, decltype(make), make> initialise{};
        Box<T>::initialiser =
            make_method(*this, BoxedName<T>::text, initialise, extra...)
                .release()
                .ptr();
        return *this;
    }

    template <class Function, class... Extra>
    BoxedClass& def(const char* name, const Function& function, const Extra&... extra) {
        define(*this, name, function, extra...);
        return *this;
    }

    template <class Function>
    BoxedClass& def_property_readonly(const char* name, const Function& function,
                                      const char* documentation = "") {
        define_property(*this, name, function, documentation);
        return *this;
    }
};

}  // namespace guardtree

/// Use it outside namespaces, after T and before functions that take or return one.
#define GUARDTREE_BOXED(T, NAME)                                                   \
    template <>                                                                    \
    struct guardtree::BoxedName<T> {                                               \
        static constexpr char text[] = NAME;                                       \
        static constexpr char expected[] = "a " NAME;                              \
    };                                                                             \
    template <>                                                                    \
    struct pybind11::detail::type_caster<T> : guardtree::boxed_detail::Caster<T> { \
        static constexpr auto name = const_name("guardtree._guardtree." NAME);     \
    };
