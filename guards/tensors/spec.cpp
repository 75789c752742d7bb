// Tensor specs: compares them, prints them, reports differences.
// SPDX-License-Identifier: MIT
#include "spec.h"

#include <algorithm>
#include <functional>

#include "../../framelocals/no_memory.h"
#include "../objects/constant.h"

#include "names.h"
#include "readers.h"

namespace guardtree {
namespace {

bool same_bounds(const std::vector<TensorBounds>& a,
                 const std::vector<TensorBounds>& b) noexcept {
    return std::ranges::equal(a, b, [](const TensorBounds& x, const TensorBounds& y) {
        return x.low == y.low && x.high == y.high;
    });
}

struct FlagName {
    const char* name;
    uint32_t flag;
};

constexpr FlagName flag_names[] = {{"requires_grad", tensor_requires_grad},
                                   {"conj", tensor_conj},
                                   {"neg", tensor_neg},
                                   {"writeable", tensor_writeable},
                                   {"aligned", tensor_aligned},
                                   {"c_contiguous", tensor_c_contiguous},
                                   {"f_contiguous", tensor_f_contiguous}};

std::string bool_name(bool value) {
    return value ? "True" : "False";
}

std::string bounds_text(const TensorBounds& bounds) {
    if (bounds.low == bounds.high) return std::to_string(bounds.low);
    return std::to_string(bounds.low) + " to " + std::to_string(bounds.high);
}

/// Collects the facts that differ.
class Differences {
public:
    void add(const std::string& fact, const std::string& expected,
             const std::string& found, int index = -1) {
        all_.push_back({fact, index, expected, found});
    }

    void compare(const std::string& fact, const std::string& expected,
                 const std::string& found) {
        if (expected != found) add(fact, expected, found);
    }

    void compare_bounds(const std::string& fact,
                        const std::vector<TensorBounds>& expected, const int64_t* found,
                        unsigned rank) {
        for (unsigned i = 0; i < rank && i < expected.size(); ++i) {
            if (within(found + i, &expected[i], 1)) continue;
            add(fact, bounds_text(expected[i]), std::to_string(found[i]),
                static_cast<int>(i));
        }
    }

    std::vector<FactDifference> take() { return std::move(all_); }

private:
    std::vector<FactDifference> all_;
};

std::string dtype_text(uint32_t word, PyObject* object) {
    if ((word & 0xff) == dtype_object && object) return short_repr(object);
    return dtype_name(word);
}

void compare_kind(const TensorPattern& pattern, const TensorFacts& facts,
                  Differences& to) {
    const auto differs = [&](uint64_t mask) {
        return (pattern.kind_mask & mask) && ((facts.kind ^ pattern.kind) & mask);
    };
    const auto word = static_cast<uint32_t>(facts.kind);
    if (differs(tensor_dtype_mask) ||
        (pattern.dtype && !same_numpy_dtype(facts.dtype, pattern.dtype))) {
        to.add("dtype", dtype_text(static_cast<uint32_t>(pattern.kind), pattern.dtype),
               dtype_text(word, facts.dtype));
    }
    if (differs(tensor_device_mask))
        to.add("device", device_name(pattern.kind), device_name(facts.kind));
    if (differs(tensor_layout_mask)) {
        to.add("layout", layout_name(static_cast<unsigned>(pattern.kind >> 56)),
               layout_name(static_cast<unsigned>(facts.kind >> 56)));
    }
    if (differs(tensor_rank_mask)) {
        to.add("ndim", std::to_string(pattern.kind >> 48 & 0xff),
               std::to_string(facts.rank()));
    }
}

void compare_flags(const TensorPattern& pattern, const TensorFacts& facts,
                   uint32_t known, Differences& to) {
    for (const auto& [name, flag] : flag_names) {
        if (!(pattern.flags_mask & flag)) continue;
        to.compare(name, bool_name(pattern.flags & flag),
                   known & flag ? bool_name(facts.flags & flag) : "nothing");
    }
}

void compare_keys(const TensorPattern& pattern, const TensorFacts& facts,
                  const TensorReader& reader, Differences& to) {
    if (!pattern.has_dispatch_keys) return;
    const char* fact = pattern.are_keys_local ? "local_dispatch_keys" : "dispatch_keys";
    const std::string expected = std::to_string(pattern.dispatch_keys);
    if (!reader.knows_dispatch_keys) return to.add(fact, expected, "nothing");
    const uint64_t found = pattern.are_keys_local
                               ? reader.local_keys(facts.dispatch_keys)
                               : facts.dispatch_keys;
    to.compare(fact, expected, std::to_string(found));
}

void compare_shape(const TensorSpec& spec, const TensorFacts& facts, Differences& to) {
    const unsigned rank = facts.rank();
    if (spec.pattern.sizes) {
        if (facts.sizes) {
            to.compare_bounds("shape", spec.sizes, facts.sizes, rank);
        } else {
            to.add("shape", "numbers", "none that can be read");
        }
    }
    if (!spec.pattern.strides) return;
    if (!facts.strides) return to.add("strides", "numbers", "none that can be read");
    std::vector<int64_t> strides;
    for (unsigned i = 0; i < rank; ++i) strides.push_back(stride_of(facts.shape(), i));
    to.compare_bounds("strides", spec.strides, strides.data(), rank);
}

std::string repr_text(PyObject* value) {
    const auto text = Owned<>::steal(PyObject_Repr(value));
    if (!text) drop_exception();
    return text ? utf8(text.get()) : short_repr(value);
}

}  // namespace

std::vector<FactDifference> TensorSpec::differences(PyObject* value) const {
    Differences to;
    if (pattern.type && Py_TYPE(value) != pattern.type) {
        to.add("type", reference_text(as_object(pattern.type)),
               reference_text(as_object(Py_TYPE(value))));
    }
    const TensorReader* by = find_tensor_reader(Py_TYPE(value));
    TensorFacts found;
    if (!by || !by->read(value, by->context, found)) {
        to.add("metadata", "a tensor that can be read",
               by ? "one that the reader '" + std::string(by->name) + "' refuses"
                  : "no reader for type " + reference_text(as_object(Py_TYPE(value))));
        return to.take();
    }
    compare_kind(pattern, found, to);
    compare_flags(pattern, found, by->known_flags, to);
    compare_keys(pattern, found, *by, to);
    if (!((pattern.kind ^ found.kind) & pattern.kind_mask & tensor_rank_mask))
        compare_shape(*this, found, to);
    if (pattern.has_storage_offset) {
        to.compare("storage_offset", std::to_string(pattern.storage_offset),
                   by->knows_storage_offset ? std::to_string(found.storage_offset)
                                            : "nothing");
    }
    if (pattern.alignment && !is_aligned(found.data, pattern.alignment)) {
        const auto address = reinterpret_cast<uintptr_t>(found.data);
        to.add("alignment", std::to_string(pattern.alignment),
               address ? std::to_string(address & -address) : "nothing");
    }
    return to.take();
}

std::string TensorSpec::text() const {
    std::string text;
    PyObject* name = nullptr;
    PyObject* value = nullptr;
    for (Py_ssize_t i = 0; PyDict_Next(facts, &i, &name, &value);) {
        if (!text.empty()) text += ", ";
        text += utf8(name) + "=";
        if (value == pattern.dtype)
            text += numpy_dtype_text(value);
        else
            text += PyType_Check(value) ? reference_text(value) : repr_text(value);
    }
    return "TensorSpec(" + text + ")";
}

std::string TensorOperand::found(PyObject* value) const {
    std::string text;
    for (const FactDifference& each : spec->differences(value)) {
        text += (text.empty() ? "" : ", ") + each.text();
    }
    return text;
}

void TensorOperand::add_keys(std::vector<Keys>& to) const {
    const TensorPattern& pattern = spec->pattern;
    if (pattern.type) to.push_back({{KeyKind::type}, {address_key(pattern.type)}});
    if (pattern.kind_mask) {
        to.push_back(
            {{KeyKind::tensor, pattern.kind_mask}, {pattern.kind & pattern.kind_mask}});
    }
    for (size_t i = 0; i < spec->sizes.size(); ++i) {
        const auto [low, high] = spec->sizes[i];
        if (low == high)
            to.push_back({{KeyKind::size, i}, {static_cast<uint64_t>(low)}});
    }
}

bool same(TensorOperand a, TensorOperand b) noexcept {
    const TensorPattern& x = a.spec->pattern;
    const TensorPattern& y = b.spec->pattern;
    return x.type == y.type && x.kind == y.kind && x.kind_mask == y.kind_mask &&
           x.flags == y.flags && x.flags_mask == y.flags_mask &&
           x.has_dispatch_keys == y.has_dispatch_keys &&
           x.are_keys_local == y.are_keys_local && x.dispatch_keys == y.dispatch_keys &&
           x.has_storage_offset == y.has_storage_offset &&
           x.storage_offset == y.storage_offset && x.alignment == y.alignment &&
           !x.sizes == !y.sizes && !x.strides == !y.strides &&
           same_bounds(a.spec->sizes, b.spec->sizes) &&
           same_bounds(a.spec->strides, b.spec->strides) &&
           (x.dtype == y.dtype || (y.dtype && same_numpy_dtype(x.dtype, y.dtype)));
}

size_t hash_of(TensorOperand a) noexcept {
    size_t hash = std::hash<const void*>{}(a.spec->pattern.type) ^ a.spec->pattern.kind;
    for (const TensorBounds& each : a.spec->sizes) {
        hash = hash * 31 + static_cast<size_t>(each.low);
    }
    return hash;
}

bool TensorOperand::is_part_of(const TensorOperand& other) const {
    PyObject* const less = spec->facts;
    PyObject* const more = other.spec->facts;
    const auto rank = Owned<>::steal(PyUnicode_InternFromString("ndim"));
    const auto shape = Owned<>::steal(PyUnicode_InternFromString("shape"));
    if (!rank || !shape) {
        drop_exception();
        return false;
    }
    Py_ssize_t place = 0;
    PyObject* name = nullptr;
    PyObject* fact = nullptr;
    while (PyDict_Next(less, &place, &name, &fact)) {
        PyObject* theirs = PyDict_GetItemWithError(more, name);
        if (theirs && (theirs == fact || same_constant(theirs, fact))) continue;
        PyObject* sizes = PyDict_GetItemWithError(more, shape.get());
        const bool is_rank = PyUnicode_Compare(name, rank.get()) == 0;
        if (!is_rank || !sizes || !PyTuple_CheckExact(sizes) ||
            PyLong_AsSsize_t(fact) != PyTuple_GET_SIZE(sizes)) {
            return false;
        }
    }
    return true;
}

}  // namespace guardtree
