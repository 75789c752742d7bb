// Constants as Python text that evaluates to them.
// SPDX-License-Identifier: MIT
#include <bit>
#include <cmath>

#include <tsl/robin_map.h>

#include "../../framelocals/exception.h"
#include "../../framelocals/no_memory.h"
#include "../../framelocals/set_entries.h"

#include "constant.h"

namespace guardtree {
namespace {

/// Counts the values that text would write, and those that exist.
class Parts {
public:
    /// A double, which does not overflow: a count of 2**100 only takes one more loop
    /// step.
    double written(PyObject* constant) {
        std::vector<PyObject*> parts;
        if (PyTuple_CheckExact(constant) || PyList_CheckExact(constant)) {
            const auto size = static_cast<size_t>(Py_SIZE(constant));
            PyObject* const* const items = PySequence_Fast_ITEMS(constant);
            parts.assign(items, items + size);
        } else if (PyDict_CheckExact(constant)) {
            Py_ssize_t position = 0;
            PyObject* key = nullptr;
            PyObject* value = nullptr;
            while (PyDict_Next(constant, &position, &key, &value))
                parts.insert(parts.end(), {key, value});
        } else if (PyAnySet_CheckExact(constant)) {
            Py_ssize_t position = 0;
            PyObject* key = nullptr;
            while (next_set_entry(constant, &position, &key)) parts.push_back(key);
        } else {
            return 1;
        }
        if (const auto known = known_.find(constant); known != known_.end())
            return known->second;
        double sum = 1;
        for (PyObject* part : parts) sum += written(part);
        there_are_ += 1 + static_cast<double>(parts.size());
        known_.insert({constant, sum});
        return sum;
    }

    double there_are() const noexcept { return there_are_; }

private:
    double there_are_ = 0;
    tsl::robin_map<PyObject*, double> known_;
};

/// The repr, or hexadecimal for ints that are too long for a decimal repr.
std::string plain_text(PyObject* constant) {
    auto text = Owned<>::steal(PyObject_Repr(constant));
    if (!text) {
        drop_exception();
        text = Owned<>::steal(PyNumber_ToBase(constant, 16));
    }
    return utf8(text.get());
}

std::string nan_text(double number) {
    constexpr uint64_t sign = uint64_t{1} << 63;
    constexpr uint64_t quiet = uint64_t{0x7FF8} << 48;  // float("nan")
    const auto bits = std::bit_cast<uint64_t>(number);
    if (bits == quiet) return "nan";
    if (bits == (quiet | sign)) return "-nan";
    return "nan_of_bits(" + std::to_string(bits) + ")";
}

std::string float_text(double number) {
    if (std::isnan(number)) return nan_text(number);
    const auto object = Owned<>::steal(PyFloat_FromDouble(number));
    return object ? plain_text(object.get()) : "?";
}

/// The repr as a sum, if evaluating the sum restores both parts; `1-0j` does not.
std::string complex_text(PyObject* constant) {
    const Py_complex number = PyComplex_AsCComplex(constant);
    const bool sums_up = std::isfinite(number.real) && std::isfinite(number.imag) &&
                         !(number.imag == 0 && std::signbit(number.imag)) &&
                         (number.real != 0 ||
                          (!std::signbit(number.real) && !std::signbit(number.imag)));
    if (sums_up) return plain_text(constant);
    return "complex(" + float_text(number.real) + ", " + float_text(number.imag) + ")";
}

std::string part_text(PyObject* constant);

std::string joined(PyObject* items, const char* open, const char* close) {
    std::string text = open;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); ++i) {
        if (i > 0) text += ", ";
        text += part_text(PySequence_Fast_GET_ITEM(items, i));
    }
    return text + close;
}

std::string dict_text(PyObject* constant) {
    std::string text = "{";
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    while (PyDict_Next(constant, &position, &key, &value)) {
        if (text.size() > 1) text += ", ";
        text += part_text(key) + ": " + part_text(value);
    }
    return text + "}";
}

std::string set_text(PyObject* constant) {
    const bool is_frozen = PyFrozenSet_CheckExact(constant);
    if (PySet_GET_SIZE(constant) == 0) return is_frozen ? "frozenset()" : "set()";
    const auto items = Owned<>::steal(PySequence_List(constant));
    if (!items) {
        drop_exception();
        return "?";
    }
    return is_frozen ? joined(items.get(), "frozenset({", "})")
                     : joined(items.get(), "{", "}");
}

std::string part_text(PyObject* constant) {
    if (PyFloat_CheckExact(constant)) return float_text(PyFloat_AS_DOUBLE(constant));
    if (PyComplex_CheckExact(constant)) return complex_text(constant);
    if (PyTuple_CheckExact(constant)) {
        return joined(constant, "(", PyTuple_GET_SIZE(constant) == 1 ? ",)" : ")");
    }
    if (PyList_CheckExact(constant)) return joined(constant, "[", "]");
    if (PyDict_CheckExact(constant)) return dict_text(constant);
    if (PySet_CheckExact(constant) || PyFrozenSet_CheckExact(constant)) {
        return set_text(constant);
    }
    return plain_text(constant);
}

}  // namespace

bool is_too_long_for_text(PyObject* constant) {
    constexpr double max_repeated = 1 << 20;
    Parts parts;
    return parts.written(constant) > max_repeated + 16 * parts.there_are();
}

std::string constant_text(PyObject* constant) {
    const ExceptionPause pause;
    if (is_too_long_for_text(constant)) {
        return "<a " + std::string(Py_TYPE(constant)->tp_name) +
               " with the same parts in it millions of times>";
    }
    return part_text(constant);
}

}  // namespace guardtree
