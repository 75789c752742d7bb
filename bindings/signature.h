// The names of a Python function and its parameters, and how arguments are bound to
// them.
// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "arguments.h"

namespace guardtree {

/// The arguments of a vectorcall.
struct Given {
    PyObject* const* values;
    size_t count;     ///< number of positional arguments; the others follow
    PyObject* names;  ///< names of the keyword arguments, or null
};

/// The name of a function in Python, and of its parameters except `self`.
class Signature {
public:
    explicit Signature(const char* name) : name_(name) {}

    // The arguments after the name and the C++ function, in order.
    void take(const py::arg& each) { add(each.name, nullptr); }

    void take(const py::arg_v& each) { add(each.name, each.value.inc_ref().ptr()); }

    void take(py::kw_only) { by_position_ = parameters_.size(); }

    void take(py::pos_only) { by_name_from_ = parameters_.size(); }

    void take(const char* documentation) { documentation_ = documentation; }

    /// The signature in the form that `inspect.signature` reads, with the
    /// documentation. `self`: the name of the bound object. `rest`: it takes any
    /// arguments.
    void describe(const char* self, bool rest);

    /// Puts the arguments in the order of the parameters, with defaults. The TypeError
    /// says which arguments are missing or superfluous.
    void bind(const Given& given, std::span<py::object> to) const;

    const char* name() const noexcept { return name_.c_str(); }

    const char* documentation() const noexcept { return documentation_.c_str(); }

    size_t size() const noexcept { return parameters_.size(); }

    ArgumentName argument(size_t index) const noexcept {
        return {name(), parameters_[index].name};
    }

private:
    struct Parameter {
        const char* name;
        PyObject* fallback;  ///< the default, never freed; null if there is none
    };

    void add(const char* name, PyObject* fallback) {
        parameters_.push_back({name, fallback});
    }

    void bind_names(const Given& given, std::span<py::object> to) const;
    std::string parameter_names(size_t count) const;

    std::string name_;
    std::string documentation_;
    std::vector<Parameter> parameters_;
    /// maximum number of positional arguments
    size_t by_position_ = static_cast<size_t>(-1);
    size_t by_name_from_ = 0;
};

/// The arguments as `*args` and `**kwargs`. Throws.
py::args rest_of(const Given& given);
py::kwargs keywords_of(const Given& given);

}  // namespace guardtree
