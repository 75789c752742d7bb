// Python functions, methods and properties that call C++.
// SPDX-License-Identifier: MIT
//
// They are CPython's own function types, not pybind11's. pybind11 keeps a list of the
// open calls of a thread and ends the process if they do not end in reverse order, but
// calls in different greenlets may end in any order. Its argument conversion also loses
// exceptions of user code (arguments.h). A function is bound by its type: `define`
// takes a lambda without captures, or `calling<&function>`.
#pragma once
#include <array>
#include <functional>
#include <span>
#include <stdexcept>
#include <tuple>
#include <type_traits>

#include <pybind11/pybind11.h>

#include "../guards/text/text_call.h"

#include "bindings.h"
#include "signature.h"

namespace guardtree {

/// The body of a C function: returns the result of `use`, or null with the exception
/// set.
template <class Use>
PyObject* translated(Use use) {
    const TextCall texts;
    Owned<> result;
    try {
        result = Owned<>::steal(use());
    } catch (...) {
        translate_exception();
    }
    if (TextCall::has_kept()) [[unlikely]] {
        result.reset();
        texts.raise_kept();
    }
    return result.release();
}

namespace function_detail {

template <class... Ts>
struct Types {};

template <class F>
struct Traits : Traits<decltype(&F::operator())> {};

template <class R, class... A>
struct Traits<R (*)(A...)> {
    using Result = R;
    using Parameters = Types<A...>;
};

template <class R, class... A>
struct Traits<R (*)(A...) noexcept> : Traits<R (*)(A...)> {};

// For a lambda.
template <class R, class C, class... A>
struct Traits<R (C::*)(A...) const> : Traits<R (*)(A...)> {};

/// For a function, or for a member of a class, which is called with self.
template <class F>
struct CallTraits : Traits<F> {};

template <class R, class C, class... A>
struct CallTraits<R (C::*)(A...) const> : Traits<R (*)(const C&, A...)> {};

template <class R, class C, class... A>
struct CallTraits<R (C::*)(A...) const noexcept> : Traits<R (*)(const C&, A...)> {};

template <class M, class C>
struct CallTraits<M C::*> : Traits<const M& (*)(const C&)> {};

/// A type whose objects call one function or member.
template <auto function>
struct Calling {
    template <class... A>
    decltype(auto) operator()(A&&... arguments) const {
        return std::invoke(function, std::forward<A>(arguments)...);
    }
};

template <auto function>
struct Traits<Calling<function>> : CallTraits<decltype(function)> {};

/// The type as which a parameter is read, and which holds it while the function runs.
template <class A>
using Read = Argument<std::remove_cvref_t<A>>;

template <class A>
using Kept = decltype(Read<A>::read(py::handle(), ArgumentName{}, std::string()));

template <class A>
Kept<A> read(py::handle given, ArgumentName name) {
    return Read<A>::read(given, name, Read<A>::expects);
}

/// Converts the result of F to a new reference.
template <class R>
PyObject* to_python(R&& result) {
    using Type = std::remove_cvref_t<R>;
    if constexpr (std::is_base_of_v<py::object, Type>)
        return py::object(std::forward<R>(result)).release().ptr();
    else if constexpr (std::is_same_v<py::handle, Type>)
        return result.inc_ref().ptr();
    else
        return py::cast(std::forward<R>(result)).release().ptr();
}

/// Calls F and converts the result.
template <class F, class... A>
PyObject* result_of(A&&... arguments) {
    if constexpr (std::is_void_v<typename Traits<F>::Result>) {
        F{}(std::forward<A>(arguments)...);
        return py::none().release().ptr();
    } else {
        return to_python(F{}(std::forward<A>(arguments)...));
    }
}

template <class F, class... A, size_t... i>
PyObject* call_with(const std::array<py::object, sizeof...(A)>& held,
                    const std::array<ArgumentName, sizeof...(A)>& names, Types<A...>,
                    std::index_sequence<i...>) {
    std::tuple<Kept<A>...> kept{read<A>(held[i], names[i])...};
    return result_of<F>(std::get<i>(kept)...);
}

/// The C functions that implement F in Python, and their data.
template <class F>
struct Bound {
    static inline Signature* signature = nullptr;  ///< kept for the process
    static inline PyMethodDef method = {};
    static inline PyGetSetDef property = {};

    /// `is_method`: the first parameter is self. All arguments are held, because user
    /// code may release their owners.
    template <bool is_method, class... A>
    static PyObject* called(PyObject* self, const Given& given,
                            Types<A...> parameters) {
        constexpr size_t first = is_method ? 1 : 0;
        std::array<py::object, sizeof...(A)> held;
        std::array<ArgumentName, sizeof...(A)> names;
        if constexpr (is_method) {
            held[0] = py::reinterpret_borrow<py::object>(self);
            names[0] = {signature->name(), "self"};
        }
        signature->bind(given, std::span(held).subspan(first));
        for (size_t i = first; i < held.size(); ++i)
            names[i] = signature->argument(i - first);
        return call_with<F>(held, names, parameters, std::index_sequence_for<A...>{});
    }

    /// A method that takes any arguments.
    template <bool is_method, class Self>
    static PyObject* called(PyObject* self, const Given& given,
                            Types<Self, const py::args&, const py::kwargs&>) {
        const auto held = py::reinterpret_borrow<py::object>(self);
        auto kept = read<Self>(held, {signature->name(), "self"});
        return result_of<F>(kept, rest_of(given), keywords_of(given));
    }

    template <bool is_method>
    static PyObject* call(PyObject* self, PyObject* const* values, Py_ssize_t count,
                          PyObject* names) {
        const Given given{values, static_cast<size_t>(count), names};
        return translated([&] {
            return called<is_method>(self, given, typename Traits<F>::Parameters{});
        });
    }

    static PyObject* get(PyObject* self, void*) {
        return call<true>(self, nullptr, 0, nullptr);
    }

    template <bool is_method, class... Extra>
    static PyMethodDef& make(const char* name, const char* self,
                             const Extra&... extra) {
        signature = new Signature(name);
        (signature->take(extra), ...);
        check_count<is_method>(typename Traits<F>::Parameters{});
        signature->describe(self, takes_rest(typename Traits<F>::Parameters{}));
        using Method =
            PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
        const Method body = &call<is_method>;
        method = {signature->name(),
                  reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(body)),
                  METH_FASTCALL | METH_KEYWORDS, signature->documentation()};
        return method;
    }

    /// Checks that there is a py::arg for each parameter. If not, the module does not
    /// load.
    template <bool is_method, class... A>
    static void check_count(Types<A...> parameters) {
        constexpr size_t named = sizeof...(A) - (is_method ? 1 : 0);
        if (!takes_rest(parameters) && signature->size() != named)
            throw std::logic_error(std::string(signature->name()) + ": py::arg");
    }

    template <class... A>
    static constexpr bool takes_rest(Types<A...>) {
        return (std::is_same_v<A, const py::args&> || ...);
    }
};

}  // namespace function_detail

/// Makes a function or a member of a class usable with `define`.
template <auto function>
inline constexpr function_detail::Calling<function> calling{};

/// A method of `type` that is not added to the type. It is called with self.
template <class F, class... Extra>
py::object make_method(py::handle type, const char* name, const F&,
                       const Extra&... extra) {
    static_assert(std::is_empty_v<F>);
    PyMethodDef& method =
        function_detail::Bound<F>::template make<true>(name, "$self", extra...);
    return py::reinterpret_steal<py::object>(
        PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), &method));
}

/// Adds a method to a type. F's first parameter is self. `extra`: py::arg for each
/// other parameter, py::kw_only, py::pos_only, the documentation.
template <class F, class... Extra>
void define(py::handle type, const char* name, const F& function,
            const Extra&... extra) {
    const py::object made = make_method(type, name, function, extra...);
    if (!made) throw py::error_already_set();
    py::setattr(type, name, made);
}

/// Adds a read-only property to a type.
template <class F>
void define_property(py::handle type, const char* name, const F&,
                     const char* documentation) {
    static_assert(std::is_empty_v<F>);
    using Bound = function_detail::Bound<F>;
    Bound::signature = new Signature(name);
    Bound::property = {name, &Bound::get, nullptr, documentation, nullptr};
    const auto made = py::reinterpret_steal<py::object>(PyDescr_NewGetSet(
        reinterpret_cast<PyTypeObject*>(type.ptr()), &Bound::property));
    if (!made) throw py::error_already_set();
    py::setattr(type, name, made);
}

/// Creates a function of a module. `extra` as for define.
template <class F, class... Extra>
py::object make_function(const py::module_& module, const char* name, const F&,
                         const Extra&... extra) {
    static_assert(std::is_empty_v<F>);
    PyMethodDef& method =
        function_detail::Bound<F>::template make<false>(name, "$module", extra...);
    auto made = py::reinterpret_steal<py::object>(PyCFunction_NewEx(
        &method, module.ptr(), py::object(module.attr("__name__")).ptr()));
    if (!made) throw py::error_already_set();
    return made;
}

/// Adds a function to a module.
template <class F, class... Extra>
void define_function(py::module_& module, const char* name, const F& function,
                     const Extra&... extra) {
    module.attr(name) = make_function(module, name, function, extra...);
}

}  // namespace guardtree
