// What a guard knows about a tensor, and the interface of tensor readers. The core and
// plugins share this header. It contains plain data, and needs no framework and no
// linking.
// SPDX-License-Identifier: MIT
//
// How it works. A reader provides the metadata of a value of its types. A pattern
// describes the expected metadata. `matches_pattern<Reader>` compiles both together, so
// a check computes only the facts that it compares: 4 ns for a matrix
// (bench/compare_torch.py).
#pragma once
#include <Python.h>

#include <cstdint>

namespace guardtree {

/// Bits of TensorFacts::flags. The first four have NumPy's values.
enum TensorFlag : uint32_t {
    tensor_c_contiguous = 0x1,
    tensor_f_contiguous = 0x2,
    tensor_aligned = 0x100,
    tensor_writeable = 0x400,
    tensor_requires_grad = 0x10000,
    tensor_conj = 0x20000,
    tensor_neg = 0x40000,
};

/// Families of element types, with DLPack's numbers (dlpack.h, DLDataTypeCode).
enum TensorDtypeCode : uint8_t {
    dtype_int = 0,
    dtype_uint = 1,
    dtype_float = 2,
    dtype_bfloat = 4,
    dtype_complex = 5,
    dtype_bool = 6,
    dtype_own = 128,     ///< types of a framework: 128 + its number
    dtype_object = 255,  ///< only TensorFacts::dtype describes it
};

/// An element type in one word. Lanes: number of values in one element.
constexpr uint32_t tensor_dtype(unsigned code, unsigned bits, unsigned lanes = 1) {
    return code | bits << 8 | lanes << 24;
}

/// Bytes of one element; 0 for dtype_object.
constexpr int64_t bytes_of_dtype(uint32_t dtype) {
    return ((dtype >> 8 & 0xffff) * (dtype >> 24) + 7) / 8;
}

/// Kinds of devices, with DLPack's numbers (DLDeviceType). Others are 64 + the
/// framework's number.
enum TensorDevice : uint8_t { device_cpu = 1, device_cuda = 2, device_own = 64 };

/// Layouts of storage.
enum TensorLayout : uint8_t { layout_strided = 0, layout_other = 255 };

/// Element type, device, rank and layout in one word, so that one comparison covers
/// all.
constexpr uint64_t tensor_kind(uint32_t dtype, unsigned device, unsigned device_index,
                               unsigned rank, unsigned layout = layout_strided) {
    return dtype | uint64_t{device} << 32 | uint64_t{device_index & 0xff} << 40 |
           uint64_t{rank} << 48 | uint64_t{layout} << 56;
}

/// The rank of a tensor that does not report one, such as a nested tensor.
inline constexpr unsigned unknown_tensor_rank = 255;

inline constexpr uint64_t tensor_dtype_mask = 0xffffffff;
inline constexpr uint64_t tensor_device_mask = uint64_t{0xffff} << 32;
inline constexpr uint64_t tensor_rank_mask = uint64_t{0xff} << 48;
inline constexpr uint64_t tensor_layout_mask = uint64_t{0xff} << 56;

/// The part of the metadata that conditions on integers read. For the members see
/// TensorFacts.
struct TensorShape {
    const int64_t* sizes = nullptr;
    const int64_t* strides = nullptr;
    bool is_compact = false;
    unsigned rank = unknown_tensor_rank;
};

/// The metadata of one tensor. Pointers are borrowed from the tensor and valid until it
/// changes.
struct TensorFacts {
    uint64_t kind = 0;               ///< tensor_kind
    uint32_t flags = 0;              ///< TensorFlag bits that the reader knows
    uint64_t dispatch_keys = 0;      ///< torch's key set
    const int64_t* sizes = nullptr;  ///< one per dimension; null if not available
    /// in units of stride_bytes; null if not available
    const int64_t* strides = nullptr;
    bool is_compact = false;     ///< strides are those of a C array and are not stored
    int64_t storage_offset = 0;  ///< in elements
    PyObject* dtype = nullptr;   ///< borrowed; the element type for dtype_object
    const char* data = nullptr;  ///< the first element; null if not available
    int64_t item_bytes = 0;
    int64_t stride_bytes = 0;  ///< size in bytes of a stride of 1

    unsigned rank() const noexcept { return kind >> 48 & 0xff; }

    TensorShape shape() const noexcept { return {sizes, strides, is_compact, rank()}; }
};

/// The sizes and strides of a 0-d tensor, for libraries that use null.
inline constexpr int64_t no_sizes[1] = {};

/// Bounds of one size or stride, both included.
struct TensorBounds {
    int64_t low;
    int64_t high;
};

/// The expected metadata of a tensor. Built once, read by every check.
struct TensorPattern {
    PyTypeObject* type = nullptr;  ///< the exact type; null for any type of the reader
    /// Size and stride of each dimension, alternating. Set if all sizes and strides are
    /// exact, element type, device and rank are compared, and otherwise only dispatch
    /// keys and flags that the reader knows. An example tensor gives such a pattern.
    /// Otherwise null.
    const int64_t* plain = nullptr;
    uint64_t plain_kind = 0;  ///< with `plain`: the reader's own encoding of `kind`
    /// with `plain`: the result of TensorReader::plain_dtype
    PyObject* plain_dtype = nullptr;
    uint32_t flags = 0;
    uint32_t flags_mask = 0;
    uint64_t dispatch_keys = 0;
    uint64_t dispatch_keys_mask = 0;  ///< with `plain`: all bits, or none
    bool are_keys_local = false;      ///< after the thread's included and excluded keys
    /// A copy of `plain` for at most this many dimensions, to avoid following a
    /// pointer.
    static constexpr unsigned near_dimensions = 4;
    int64_t near[2 * near_dimensions] = {};
    // The remaining members are not needed with `plain`.
    uint64_t kind = 0;
    uint64_t kind_mask = 0;  ///< the bits of kind to compare
    bool has_dispatch_keys = false;
    /// only element type, device, rank, layout and alignment are compared
    bool is_brief = false;
    bool has_storage_offset = false;
    int64_t storage_offset = 0;
    uint64_t alignment = 0;  ///< of the first element; a power of two, or 0 for any
    /// null for any; otherwise the rank is compared too
    const TensorBounds* sizes = nullptr;
    const TensorBounds* strides = nullptr;
    PyObject* dtype = nullptr;  ///< the owner of the pattern keeps it alive
};

/// Whether a value of a type of the reader matches the pattern.
using TensorMatches = bool (*)(const TensorPattern& pattern, PyObject* value,
                               const void* context) noexcept;

/// A table of functions that read tensors of a type. A plugin fills it in and keeps it
/// for the life of the process. The functions do not allocate, throw or run user code.
struct TensorReader {
    /// A reader that was built with other versions of these structs is refused, even if
    /// nobody increased the number.
    static const uint32_t current_version;

    uint32_t version;  ///< current_version of the header that the reader was built with
    uint32_t known_flags;  ///< TensorFlag bits that it provides
    bool knows_dispatch_keys;
    bool knows_storage_offset;
    bool reads_subclasses;  ///< also reads types that inherit from a registered one
    const char* name;       ///< "numpy", for messages
    const void* context;    ///< passed to read, matches and read_shape
    /// Returns false if the value's metadata cannot be read.
    bool (*read)(PyObject* value, const void* context, TensorFacts& to) noexcept;
    TensorMatches matches;
    /// A function made for patterns like this one, which has `plain`; null if there is
    /// none. The member is null if the reader has no such functions.
    TensorMatches (*matches_plain)(const TensorPattern& plain) noexcept;
    /// Returns false if the value's metadata cannot be read.
    bool (*read_shape)(PyObject* value, const void* context, TensorShape& to) noexcept;
    /// The key set after the thread's included and excluded keys. Null if there are no
    /// keys.
    uint64_t (*local_keys)(uint64_t keys) noexcept;
    /// The encoding of a kind that read_plain uses: the library's own numbers, with the
    /// rank in the bits of tensor_kind. Null if the encoding is tensor_kind itself.
    uint64_t (*plain_kind)(uint64_t kind) noexcept;
    /// The library's only object for an element type, which lives as long as the
    /// reader. Null if there is none or not only one. The member is null if read_plain
    /// does not use it.
    PyObject* (*plain_dtype)(uint32_t dtype) noexcept;
};

inline constexpr uint32_t TensorReader::current_version =
    6 | sizeof(TensorPattern) << 8 | (sizeof(TensorFacts) + sizeof(TensorShape)) << 16 |
    sizeof(TensorReader) << 24;

/// The function that checks of a pattern call.
inline TensorMatches matches_of(const TensorReader& reader,
                                const TensorPattern& pattern) noexcept {
    const bool may_be_special = pattern.plain && reader.matches_plain;
    const TensorMatches found =
        may_be_special ? reader.matches_plain(pattern) : nullptr;
    return found ? found : reader.matches;
}

/// The name of the capsules that pass a TensorReader to guardtree.
inline constexpr const char* tensor_reader_capsule = "guardtree.tensor_reader";

/// The stride of a dimension, computed if it is not stored.
inline int64_t stride_of(const TensorShape& of, unsigned dimension) noexcept {
    if (!of.is_compact) return of.strides[dimension];
    int64_t stride = 1;
    for (unsigned i = of.rank; --i > dimension;) {
        stride *= of.sizes[i] > 0 ? of.sizes[i] : 1;
    }
    return stride;
}

/// Disables garbage collection in a scope. Up to 3.11 a collection may start wherever
/// an object is created. Finalizers may then free objects that a walk has borrowed.
class NoCollection {
public:
    NoCollection() noexcept : was_on_(PyGC_Disable()) {}

    ~NoCollection() {
        if (was_on_) PyGC_Enable();
    }

    NoCollection(const NoCollection&) = delete;
    NoCollection& operator=(const NoCollection&) = delete;

private:
    int was_on_;
};

/// Whether all values are within their bounds.
inline bool within(const int64_t* values, const TensorBounds* bounds,
                   unsigned count) noexcept {
    for (unsigned i = 0; i < count; ++i) {
        if (values[i] < bounds[i].low || values[i] > bounds[i].high) return false;
    }
    return true;
}

/// Whether sizes and strides are those of TensorPattern::plain.
[[gnu::always_inline]] inline bool has_sizes(const TensorFacts& facts,
                                             const int64_t* expected) noexcept {
    const unsigned rank = facts.rank();
    for (unsigned i = 0; i < rank; ++i, expected += 2) {
        if ((facts.sizes[i] ^ expected[0]) | (facts.strides[i] ^ expected[1]))
            [[unlikely]]
            return false;
    }
    return true;
}

/// The bits of kind and flags that differ from the expected ones.
inline uint64_t kind_differences(const TensorPattern& pattern,
                                 const TensorFacts& facts) noexcept {
    return ((facts.kind ^ pattern.kind) & pattern.kind_mask) |
           ((facts.flags ^ pattern.flags) & pattern.flags_mask);
}

/// Whether the first element exists and its address is a multiple of a power of two.
inline bool is_aligned(const char* data, uint64_t alignment) noexcept {
    return data && !(reinterpret_cast<uintptr_t>(data) & (alignment - 1));
}

/// Matches a brief pattern, for a reader that has `read_brief` and `data_of`.
template <class R>
[[gnu::noinline]] bool matches_brief_pattern(const TensorPattern& pattern,
                                             PyObject* value) noexcept {
    TensorFacts facts;
    if (!R::read_brief(value, pattern.kind_mask, facts) ||
        ((facts.kind ^ pattern.kind) & pattern.kind_mask))
        return false;
    return !pattern.alignment ||
           is_aligned(R::data_of(value, facts), pattern.alignment);
}

/// Matches any pattern. Kept apart from plain patterns, whose facts stay in registers.
template <class R>
[[gnu::noinline]] bool matches_any_pattern(const TensorPattern& pattern,
                                           PyObject* value,
                                           const void* context) noexcept {
    TensorFacts facts;
    if (!R::read(value, context, facts) || kind_differences(pattern, facts) ||
        (pattern.flags_mask & ~R::known_flags)) {
        return false;
    }
    if constexpr (R::knows_dispatch_keys) {
        if (pattern.has_dispatch_keys) {
            const uint64_t keys = pattern.are_keys_local
                                      ? R::local_keys(facts.dispatch_keys)
                                      : facts.dispatch_keys;
            if (keys != pattern.dispatch_keys) return false;
        }
    } else if (pattern.has_dispatch_keys) {
        return false;
    }
    if (pattern.alignment && !is_aligned(facts.data, pattern.alignment)) return false;
    const unsigned rank = facts.rank();
    if (pattern.sizes && (!facts.sizes || !within(facts.sizes, pattern.sizes, rank)))
        return false;
    if (pattern.strides) {
        if (!facts.strides) return false;
        for (unsigned i = 0; i < rank; ++i) {
            const int64_t stride = stride_of(facts.shape(), i);
            if (!within(&stride, pattern.strides + i, 1)) return false;
        }
    }
    if (pattern.has_storage_offset) {
        if (!R::knows_storage_offset || facts.storage_offset != pattern.storage_offset)
            return false;
    }
    if (!pattern.dtype || facts.dtype == pattern.dtype) return true;
    if constexpr (requires { R::is_same_dtype(facts.dtype, pattern.dtype); })
        return R::is_same_dtype(facts.dtype, pattern.dtype);
    return false;
}

/// Matches a plain pattern, whose `are_keys_local` is given.
template <class R, bool are_keys_local>
[[gnu::always_inline]] inline bool matches_plain_pattern(const TensorPattern& pattern,
                                                         PyObject* value,
                                                         const void* context) noexcept {
    TensorFacts facts;
    static_assert(
        !requires { R::plain_kind(0); } ||
            requires { R::read_plain(pattern, value, context, facts); },
        "a reader with a plain_kind needs read_plain(pattern, value, context, to)");
    if constexpr (requires { R::read_plain(pattern, value, context, facts); }) {
        if (!R::read_plain(pattern, value, context, facts)) return false;
    } else {
        if (!R::read(value, context, facts)) return false;
    }
    uint64_t differs = facts.kind ^ pattern.plain_kind;
    constexpr uint32_t flags = R::known_flags & ~R::late_flags;
    if constexpr (flags != 0) {
        differs |= (facts.flags ^ pattern.flags) & pattern.flags_mask & flags;
    }
    if constexpr (R::knows_dispatch_keys) {
        const uint64_t keys =
            are_keys_local ? R::local_keys(facts.dispatch_keys) : facts.dispatch_keys;
        differs |= (keys ^ pattern.dispatch_keys) & pattern.dispatch_keys_mask;
    }
    if (differs) [[unlikely]]
        return false;
    if constexpr (R::may_be_compact) {
        if (facts.is_compact) return matches_any_pattern<R>(pattern, value, context);
    }
    if (facts.rank() > TensorPattern::near_dimensions) [[unlikely]] {
        if (!has_sizes(facts, pattern.plain)) return false;
    } else if (!has_sizes(facts, pattern.near)) {
        return false;
    }
    return R::has_late_flags(pattern, value);
}

template <class R>
bool matches_local_pattern(const TensorPattern& pattern, PyObject* value,
                           const void* context) noexcept;

/// The same in a thread that asks for its dispatch keys first.
template <class R>
[[gnu::cold, gnu::noinline]] bool matches_in_new_thread(const TensorPattern& pattern,
                                                        PyObject* value,
                                                        const void* context) noexcept {
    R::meet_thread();
    return matches_local_pattern<R>(pattern, value, context);
}

/// Matches a plain pattern with local dispatch keys. Kept out of line, and without a
/// call that comes back, so that it needs no stack frame: a fifth of its instructions.
template <class R>
[[gnu::noinline]] bool matches_local_pattern(const TensorPattern& pattern,
                                             PyObject* value,
                                             const void* context) noexcept {
    if constexpr (requires { R::meet_thread(); }) {
        if (!R::knows_thread()) [[unlikely]]
            return matches_in_new_thread<R>(pattern, value, context);
    }
    return matches_plain_pattern<R, true>(pattern, value, context);
}

/// A base for readers that read all flags immediately.
struct EagerReader {
    static constexpr uint32_t late_flags = 0;

    static bool has_late_flags(const TensorPattern&, PyObject*) noexcept {
        return true;
    }
};

/// Whether a value of a type of R matches the pattern. R provides the members of
/// TensorReader as static members and constants. It may have `read_plain`, which reads
/// only the facts of TensorPattern::plain, and returns false if one of them is not
/// available. `read_plain` leaves out `late_flags`, which `has_late_flags` compares
/// last (an EagerReader has none). It may have `is_same_dtype`, which compares two
/// objects of dtype_object; without it, only the same object is the same. It may have
/// `matches_plain`, which gives a function for a pattern in the place of this one. It
/// may have `read_brief`, which reads only the parts of the kind that a mask has, and
/// with it `data_of`, the first element's address. Where `local_keys` takes calls in a
/// thread that asks first, `meet_thread` makes them, and `knows_thread` tells whether
/// it did.
template <class R>
[[gnu::always_inline]] inline bool matches_pattern(const TensorPattern& pattern,
                                                   PyObject* value,
                                                   const void* context) noexcept {
    if (pattern.type && Py_TYPE(value) != pattern.type) [[unlikely]]
        return false;
    if (!pattern.plain) [[unlikely]] {
        if constexpr (requires(TensorFacts to) { R::read_brief(value, 0, to); }) {
            if (pattern.is_brief) return matches_brief_pattern<R>(pattern, value);
        }
        return matches_any_pattern<R>(pattern, value, context);
    }
    if constexpr (R::knows_dispatch_keys) {
        if (pattern.are_keys_local)
            return matches_local_pattern<R>(pattern, value, context);
    }
    return matches_plain_pattern<R, false>(pattern, value, context);
}

/// Converts a dimension, which may be negative as in Python, to one from 0 on. Returns
/// false if there is no such dimension.
inline bool find_dimension(unsigned rank, int64_t& dimension) noexcept {
    if (dimension < 0) dimension += rank;
    return dimension >= 0 && dimension < rank;
}

/// TensorReader::read_shape. A reader may have a `read_shape` of its own, which does
/// not read the other facts.
template <class R>
bool read_shape_of(PyObject* value, const void* context, TensorShape& to) noexcept {
    if constexpr (requires { R::read_shape(value, to); }) {
        return R::read_shape(value, to);
    } else {
        TensorFacts facts;
        if (!R::read(value, context, facts)) return false;
        to = facts.shape();
        return true;
    }
}

/// The table of a reader.
template <class R>
constexpr TensorReader reader_table(const void* context = nullptr) {
    TensorReader table{
        TensorReader::current_version,
        R::known_flags,
        R::knows_dispatch_keys,
        R::knows_storage_offset,
        R::reads_subclasses,
        R::name,
        context,
        R::read,
        [](const TensorPattern& pattern, PyObject* value, const void* given) noexcept {
            return matches_pattern<R>(pattern, value, given);
        },
        nullptr,
        read_shape_of<R>,
        nullptr,
        nullptr,
        nullptr};
    if constexpr (requires(TensorPattern plain) { R::matches_plain(plain); })
        table.matches_plain = R::matches_plain;
    if constexpr (R::knows_dispatch_keys) table.local_keys = R::local_keys;
    if constexpr (requires { R::plain_kind(0); }) table.plain_kind = R::plain_kind;
    if constexpr (requires { R::plain_dtype(0); }) table.plain_dtype = R::plain_dtype;
    return table;
}

}  // namespace guardtree
