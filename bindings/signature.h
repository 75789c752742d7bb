// What a Python function of ours is called, and how its arguments come to parameters.
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
    size_t count;     ///< by position; the others follow them
    PyObject* names;  ///< the others' names, or null
};

/// The name of a function in Python, and those of its parameters besides `self`.
class Signature {
public:
    explicit Signature(const char* name) : name_(name) {}

    // What comes after the name and the C++ function, in order.
    void take(const py::arg& each) { add(each.name, nullptr); }

    void take(const py::arg_v& each) { add(each.name, each.value.inc_ref().ptr()); }

    void take(py::kw_only) { by_position_ = parameters_.size(); }

    void take(py::pos_only) { by_name_from_ = parameters_.size(); }

    void take(const char* documentation) { documentation_ = documentation; }

    /// Where `inspect.signature` finds it, with the documentation. `self`: what the
    /// function is bound to; `rest`: it takes any arguments.
    void describe(const char* self, bool rest);

    /// The arguments in the parameters' order, with the defaults. TypeError says which
    /// are missing or too many.
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
        PyObject* fallback;  ///< kept for the process; null where there is none
    };

    void add(const char* name, PyObject* fallback) {
        parameters_.push_back({name, fallback});
    }

    void bind_names(const Given& given, std::span<py::object> to) const;
    std::string parameter_names(size_t count) const;

    std::string name_;
    std::string documentation_;
    std::vector<Parameter> parameters_;
    size_t by_position_ = static_cast<size_t>(-1);  ///< so many at most
    size_t by_name_from_ = 0;
};

/// The arguments as `*args` and `**kwargs`. Throws.
py::args rest_of(const Given& given);
py::kwargs keywords_of(const Given& given);

}  // namespace guardtree
