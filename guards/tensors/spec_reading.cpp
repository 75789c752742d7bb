// Reads tensor specs from Python: from a dict of facts, or from an example tensor.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <memory>

#include "../../framelocals/no_memory.h"
#include "../objects/constant.h"

#include "dlpack_reader.h"
#include "names.h"
#include "readers.h"
#include "shared_specs.h"

namespace guardtree {
namespace {

constexpr unsigned max_dimensions = unknown_tensor_rank - 1;

/// TensorMatches without a type: looks the reader up first.
bool matches_any_type(const TensorPattern& pattern, PyObject* value,
                      const void*) noexcept {
    const TensorReader* reader = tensor_reader_of(value);
    return reader && reader->matches(pattern, value, reader->context);
}

/// Fills a spec from a dict, fact by fact.
class SpecReader {
public:
    SpecReader(TensorSpec& to, Diagnostic& problem) : to_(to), problem_(problem) {}

    bool run(PyObject* facts) {
        Owned<> canonical = Owned<>::steal(PyDict_New());
        if (!canonical) return refuse("memory for a dict", facts);
        to_.facts = canonical.get();
        to_.references.push_back(std::move(canonical));
        for (size_t i = 0; i < std::size(readers); ++i) {
            key_ = name_of(i);
            PyObject* value = PyDict_GetItemWithError(facts, key_);
            if (!value) {
                drop_exception();
                continue;
            }
            to_.named |= uint32_t{1} << i;
            // User code that runs here must not free it.
            const Owned<> held = Owned<>::share(value);
            name_ = readers[i].name;
            // A copy: GCC 12 with both ASan and UBSan miscompiles a call through an
            // element.
            const Read read = readers[i].read;
            if (!(this->*read)(value)) return false;
        }
        if (std::popcount(to_.named) != PyDict_GET_SIZE(facts))
            return refuse_name(facts);
        finish();
        return agrees();
    }

private:
    using Read = bool (SpecReader::*)(PyObject* value);

    struct Fact {
        const char* name;
        Read read;
    };

    static const Fact readers[18];

    /// As a key of dicts: an interned str, made once and never freed.
    static PyObject* name_of(size_t fact) {
        static constinit PyObject* names[18]{};
        PyObject* const name = kept_name(names[fact], readers[fact].name);
        if (!name) throw_no_memory();
        return name;
    }

    bool refuse(const std::string& expected, PyObject* found) {
        drop_exception();
        problem_ = {PyExc_TypeError, (name_ ? std::string(name_) + ": " : "") +
                                         "expected " + expected + ", found " +
                                         found_text(found)};
        return false;
    }

    bool refuse_name(PyObject* facts) {
        name_ = nullptr;
        std::string known;
        for (const auto& [name, read] : readers) {
            known += (known.empty() ? "" : ", ") + std::string(name);
        }
        return refuse("a dict with some of the facts " + known, facts);
    }

    bool keep_fact(Owned<> value) {
        if (!value || PyDict_SetItem(to_.facts, key_, value.get()) != 0)
            return refuse("memory", Py_None);
        to_.references.push_back(std::move(value));
        return true;
    }

    bool keep_text(const std::string& text) {
        return keep_fact(Owned<>::steal(PyUnicode_FromString(text.c_str())));
    }

    bool read_type(PyObject* value) {
        if (!PyType_Check(value)) return refuse("a class", value);
        to_.pattern.type = reinterpret_cast<PyTypeObject*>(value);
        to_.reader = demand_tensor_reader(to_.pattern.type, problem_);
        if (!to_.reader) return false;
        return keep_fact(Owned<>::share(value));
    }

    void expect_kind(uint64_t mask, uint64_t kind) {
        to_.pattern.kind_mask |= mask;
        to_.pattern.kind = (to_.pattern.kind & ~mask) | kind;
    }

    /// The text for a dtype, device or layout: the str itself, or its str().
    std::string word_of(PyObject* value) {
        if (PyUnicode_Check(value)) return utf8(value);
        if (PyType_Check(value)) {  // numpy.float32
            const char* dot =
                std::strrchr(reinterpret_cast<PyTypeObject*>(value)->tp_name, '.');
            return dot ? dot + 1 : reinterpret_cast<PyTypeObject*>(value)->tp_name;
        }
        const auto text = Owned<>::steal(PyObject_Str(value));
        if (!text) drop_exception();
        return text ? utf8(text.get()) : "";
    }

    bool read_dtype(PyObject* value) {
        uint32_t word = 0;
        if (dtype_of_name(word_of(value), word)) {
            expect_kind(tensor_dtype_mask, word);
            return keep_text(dtype_name(word));
        }
        if (!is_numpy_dtype(value))
            return refuse("the name of an element type, such as 'float32', or a dtype",
                          value);
        if (!compares_quietly(value)) {
            return refuse(
                "a dtype that NumPy compares without running Python code: with names "
                "and titles of fields that are str, and an na_object that is None, "
                "a float or a str",
                value);
        }
        expect_kind(tensor_dtype_mask, tensor_dtype(dtype_object, 0));
        to_.pattern.dtype = value;
        return keep_fact(Owned<>::share(value));
    }

    bool read_device(PyObject* value) {
        uint64_t kind = 0;
        if (!device_of_name(word_of(value), kind))
            return refuse("a device, such as 'cpu' or 'cuda:0'", value);
        expect_kind(tensor_device_mask, kind);
        return keep_text(device_name(kind));
    }

    bool read_layout(PyObject* value) {
        unsigned layout = 0;
        if (!layout_of_name(word_of(value), layout))
            return refuse("a layout, such as 'strided' or 'sparse_csr'", value);
        expect_kind(tensor_layout_mask, tensor_kind(0, 0, 0, 0, layout));
        return keep_text(layout_name(layout));
    }

    bool read_number(PyObject* value, int64_t& to) {
        if (!PyLong_CheckExact(value)) return refuse("an int", value);
        int overflow = 0;
        to = PyLong_AsLongLongAndOverflow(value, &overflow);
        return overflow == 0 || refuse("an int of 64 bits", value);
    }

    bool expect_rank(int64_t rank, PyObject* found) {
        if (rank < 0 || rank > max_dimensions)
            return refuse("0 to 254 dimensions", found);
        const uint64_t kind = tensor_kind(0, 0, 0, static_cast<unsigned>(rank));
        if ((to_.pattern.kind_mask & tensor_rank_mask) &&
            (to_.pattern.kind & tensor_rank_mask) != kind) {
            return refuse("as many dimensions as in ndim, shape and strides", found);
        }
        expect_kind(tensor_rank_mask, kind);
        return true;
    }

    bool read_rank(PyObject* value) {
        int64_t rank = 0;
        return read_number(value, rank) && expect_rank(rank, value) &&
               keep_fact(Owned<>::share(value));
    }

    /// Reads one size or stride: a number, None, or (low, high).
    bool read_bounds(PyObject* value, TensorBounds& to) {
        if (value == Py_None) {
            to = {INT64_MIN, INT64_MAX};
            return true;
        }
        if (!PyTuple_CheckExact(value)) {
            if (!PyLong_CheckExact(value))
                return refuse("an int, None or (low, high) for each dimension", value);
            const bool is_read = read_number(value, to.low);
            to.high = to.low;
            return is_read;
        }
        if (PyTuple_GET_SIZE(value) != 2) return refuse("(low, high)", value);
        PyObject* low = PyTuple_GET_ITEM(value, 0);
        PyObject* high = PyTuple_GET_ITEM(value, 1);
        to = {INT64_MIN, INT64_MAX};
        if (low != Py_None && !read_number(low, to.low)) return false;
        if (high != Py_None && !read_number(high, to.high)) return false;
        return to.low <= to.high || refuse("low <= high", value);
    }

    /// A number, None or (low, high).
    static Owned<> object_of_bounds(const TensorBounds& bounds) {
        const auto end = [](int64_t number, int64_t none) {
            return number == none ? Owned<>::share(Py_None)
                                  : Owned<>::steal(PyLong_FromLongLong(number));
        };
        Owned<> low = end(bounds.low, INT64_MIN);
        Owned<> high = end(bounds.high, INT64_MAX);
        if (!low || !high) return {};
        if (bounds.low == bounds.high)
            return low.get() == Py_None ? std::move(high) : std::move(low);
        if (low.get() == Py_None && high.get() == Py_None) return low;
        return Owned<>::steal(PyTuple_Pack(2, low.get(), high.get()));
    }

    bool read_all_bounds(PyObject* value, std::vector<TensorBounds>& to,
                         const TensorBounds*& first) {
        if (!PyTuple_Check(value) && !PyList_Check(value))
            return refuse("a tuple", value);
        const auto tuple = Owned<>::steal(PySequence_Tuple(value));
        if (!tuple) return refuse("a tuple", value);
        const Py_ssize_t rank = PyTuple_GET_SIZE(tuple.get());
        for (Py_ssize_t i = 0; i < rank; ++i) {
            TensorBounds bounds{};
            if (!read_bounds(PyTuple_GET_ITEM(tuple.get(), i), bounds)) return false;
            to.push_back(bounds);
        }
        static constexpr TensorBounds none{};
        first = to.empty() ? &none : to.data();
        if (!expect_rank(rank, value)) return false;
        // Equal meanings are normalised to one form, because specs are shared.
        auto plain = Owned<>::steal(PyTuple_New(rank));
        for (Py_ssize_t i = 0; plain && i < rank; ++i) {
            Owned<> bounds = object_of_bounds(to[static_cast<size_t>(i)]);
            if (!bounds) return refuse("memory", value);
            PyTuple_SET_ITEM(plain.get(), i, bounds.release());
        }
        return keep_fact(std::move(plain));
    }

    bool read_shape(PyObject* value) {
        return read_all_bounds(value, to_.sizes, to_.pattern.sizes);
    }

    bool read_strides(PyObject* value) {
        return read_all_bounds(value, to_.strides, to_.pattern.strides);
    }

    bool read_storage_offset(PyObject* value) {
        to_.pattern.has_storage_offset = true;
        return read_number(value, to_.pattern.storage_offset) &&
               keep_fact(Owned<>::share(value));
    }

    bool read_alignment(PyObject* value) {
        int64_t alignment = 0;
        if (!read_number(value, alignment)) return false;
        if (alignment < 1 || !std::has_single_bit(static_cast<uint64_t>(alignment)))
            return refuse("a power of two", value);
        to_.pattern.alignment = static_cast<uint64_t>(alignment);
        return keep_fact(Owned<>::share(value));
    }

    template <uint32_t flag>
    bool read_flag(PyObject* value) {
        if (!PyBool_Check(value)) return refuse("a bool", value);
        to_.pattern.flags_mask |= flag;
        if (value == Py_True) to_.pattern.flags |= flag;
        return keep_fact(Owned<>::share(value));
    }

    template <bool are_local>
    bool read_keys(PyObject* value) {
        if (to_.pattern.has_dispatch_keys)
            return refuse("one of dispatch_keys and local_dispatch_keys", value);
        to_.pattern.dispatch_keys = PyLong_AsUnsignedLongLong(value);
        if (PyErr_Occurred()) return refuse("an int of 64 bits without sign", value);
        to_.pattern.has_dispatch_keys = true;
        to_.pattern.are_keys_local = are_local;
        return keep_fact(Owned<>::share(value));
    }

    void finish() {
        TensorPattern& pattern = to_.pattern;
        if (is_plain()) make_plain();
        pattern.is_brief = !pattern.sizes && !pattern.strides && !pattern.dtype &&
                           !pattern.flags_mask && !pattern.has_dispatch_keys &&
                           !pattern.has_storage_offset;
        to_.matches = to_.reader ? matches_of(*to_.reader, pattern) : matches_any_type;
        to_.context = to_.reader ? to_.reader->context : nullptr;
    }

    /// Fills TensorPattern::plain if it applies. Without a type, any reader may be
    /// used.
    bool is_plain() const {
        const TensorPattern& pattern = to_.pattern;
        const auto is_exact = [](const TensorBounds& each) {
            return each.low == each.high;
        };
        constexpr uint64_t counts =
            tensor_dtype_mask | tensor_device_mask | tensor_rank_mask;
        return to_.reader && pattern.kind_mask == counts && pattern.sizes &&
               pattern.strides && !pattern.dtype && !pattern.has_storage_offset &&
               !pattern.alignment && std::ranges::all_of(to_.sizes, is_exact) &&
               std::ranges::all_of(to_.strides, is_exact);
    }

    void make_plain() {
        for (size_t i = 0; i < to_.sizes.size(); ++i) {
            to_.plain.push_back(to_.sizes[i].low);
            to_.plain.push_back(to_.strides[i].low);
        }
        if (to_.plain.empty()) to_.plain.push_back(0);
        to_.pattern.plain = to_.plain.data();
        std::ranges::copy_n(to_.plain.begin(),
                            static_cast<ptrdiff_t>(std::min(
                                to_.plain.size(), std::size(to_.pattern.near))),
                            to_.pattern.near);
        const uint64_t kind = to_.pattern.kind;
        to_.pattern.plain_kind =
            to_.reader->plain_kind ? to_.reader->plain_kind(kind) : kind;
        if (to_.reader->plain_dtype)
            to_.pattern.plain_dtype =
                to_.reader->plain_dtype(static_cast<uint32_t>(kind));
        if (to_.pattern.has_dispatch_keys)
            to_.pattern.dispatch_keys_mask = ~uint64_t{0};
    }

    /// Refuses a fact that the type's reader does not provide, because the guard could
    /// never pass.
    bool agrees() {
        const TensorReader* reader = to_.reader;
        if (!reader) return true;
        const bool is_told =
            !(to_.pattern.flags_mask & ~reader->known_flags) &&
            (reader->knows_dispatch_keys || !to_.pattern.has_dispatch_keys) &&
            (reader->knows_storage_offset || !to_.pattern.has_storage_offset);
        if (is_told) return true;
        name_ = nullptr;
        return refuse(
            "facts that tensors of the reader '" + std::string(reader->name) + "' have",
            to_.facts);
    }

    TensorSpec& to_;
    Diagnostic& problem_;
    const char* name_ = nullptr;
    /// The name of the fact that is being read, as a key.
    PyObject* key_ = nullptr;
};

constexpr SpecReader::Fact SpecReader::readers[18] = {
    {"type", &SpecReader::read_type},
    {"dtype", &SpecReader::read_dtype},
    {"device", &SpecReader::read_device},
    {"layout", &SpecReader::read_layout},
    {"ndim", &SpecReader::read_rank},
    {"shape", &SpecReader::read_shape},
    {"strides", &SpecReader::read_strides},
    {"storage_offset", &SpecReader::read_storage_offset},
    {"alignment", &SpecReader::read_alignment},
    {"requires_grad", &SpecReader::read_flag<tensor_requires_grad>},
    {"conj", &SpecReader::read_flag<tensor_conj>},
    {"neg", &SpecReader::read_flag<tensor_neg>},
    {"writeable", &SpecReader::read_flag<tensor_writeable>},
    {"aligned", &SpecReader::read_flag<tensor_aligned>},
    {"c_contiguous", &SpecReader::read_flag<tensor_c_contiguous>},
    {"f_contiguous", &SpecReader::read_flag<tensor_f_contiguous>},
    {"dispatch_keys", &SpecReader::read_keys<false>},
    {"local_dispatch_keys", &SpecReader::read_keys<true>},
};

/// Adds facts to a dict, and records if memory ran out.
class FactDict {
public:
    FactDict() : dict_(Owned<>::steal(PyDict_New())) {}

    void put(const char* name, Owned<> value) {
        if (!dict_ || !value ||
            PyDict_SetItemString(dict_.get(), name, value.get()) != 0) {
            PyErr_Clear();
            dict_.reset();
        }
    }

    void put_text(const char* name, const std::string& text) {
        put(name, Owned<>::steal(PyUnicode_FromString(text.c_str())));
    }

    void put_bool(const char* name, bool value) {
        put(name, Owned<>::share(value ? Py_True : Py_False));
    }

    template <class At>
    void put_numbers(const char* name, unsigned count, At at) {
        auto tuple = Owned<>::steal(PyTuple_New(count));
        for (unsigned i = 0; tuple && i < count; ++i) {
            PyTuple_SET_ITEM(tuple.get(), i, PyLong_FromLongLong(at(i)));
        }
        put(name, std::move(tuple));
    }

    Owned<> take() { return std::move(dict_); }

private:
    Owned<> dict_;
};

Owned<> dict_of(PyTypeObject* type, const TensorReader& reader,
                const TensorFacts& facts) {
    FactDict to;
    to.put("type", Owned<>::share(as_object(type)));
    const auto word = static_cast<uint32_t>(facts.kind);
    if ((word & 0xff) == dtype_object) {
        to.put("dtype", Owned<>::share(facts.dtype));
    } else {
        to.put_text("dtype", dtype_name(word));
    }
    // What the reader cannot tell is left out, as of a fake tensor of torch.
    if (facts.kind & tensor_device_mask) to.put_text("device", device_name(facts.kind));
    const auto layout = static_cast<unsigned>(facts.kind >> 56);
    if (layout != layout_strided && layout != layout_other)
        to.put_text("layout", layout_name(layout));
    if (facts.sizes) {
        to.put_numbers("shape", facts.rank(),
                       [&](unsigned i) { return facts.sizes[i]; });
    } else if (facts.rank() != unknown_tensor_rank) {
        to.put("ndim", Owned<>::steal(PyLong_FromLong(facts.rank())));
    }
    if (facts.strides) {
        to.put_numbers("strides", facts.rank(),
                       [&](unsigned i) { return stride_of(facts.shape(), i); });
    }
    const auto put_flag = [&](const char* name, uint32_t flag) {
        if (reader.known_flags & flag) to.put_bool(name, facts.flags & flag);
    };
    put_flag("requires_grad", tensor_requires_grad);
    put_flag("writeable", tensor_writeable);
    put_flag("aligned", tensor_aligned);
    if (reader.knows_dispatch_keys) {
        to.put("dispatch_keys",
               Owned<>::steal(PyLong_FromUnsignedLongLong(facts.dispatch_keys)));
    }
    return to.take();
}

}  // namespace

Owned<> tensor_facts(PyObject* tensor, Diagnostic& problem) {
    const TensorReader* reader = demand_tensor_reader(Py_TYPE(tensor), problem);
    if (!reader) return {};
    TensorFacts facts;
    if (!reader->read(tensor, reader->context, facts)) {
        problem = {PyExc_TypeError, "expected a tensor whose metadata the reader '" +
                                        std::string(reader->name) +
                                        "' can tell, found " + found_text(tensor)};
        return {};
    }
    Owned<> dict = dict_of(Py_TYPE(tensor), *reader, facts);
    if (!dict) problem = {PyExc_MemoryError, "no memory for the facts of a tensor"};
    return dict;
}

bool TensorOperand::read(PyObject* from, TensorOperand& to, References& keep,
                         Diagnostic& problem) {
    Owned<> facts = PyDict_Check(from) ? Owned<>::share(from) : Owned<>();
    if (!facts) {
        if (!demand_tensor_reader(Py_TYPE(from), problem)) {
            refuse_operand(problem, expects, from);
            return false;
        }
        facts = tensor_facts(from, problem);
        if (!facts) return false;
    }
    auto spec = std::make_unique<TensorSpec>();
    if (!SpecReader(*spec, problem).run(facts.get())) return false;
    if (!spec->pattern.type) expect_tensors();
    to.spec = share_spec(std::move(spec), keep, problem);
    return to.spec != nullptr;
}

}  // namespace guardtree
