// Reads NumPy arrays through their C struct. Needs neither NumPy nor its headers to
// build.
// SPDX-License-Identifier: MIT
#pragma once
#include "numpy_dtype.h"
#include "reader.h"

namespace guardtree {

/// The public members of an array (PyArrayObject_fields, numpy/ndarraytypes.h; the same
/// in NumPy 1 and 2). verified_numpy compares them with the attributes of arrays.
struct NumpyArray {
    PyObject_HEAD
    char* data;
    int rank;
    const int64_t* sizes;
    const int64_t* strides;
    PyObject* base;
    PyObject* dtype;
    int flags;
};

/// The size of one element in bytes. Its offset depends on NumPy's major version. The
/// function is pure, so the compiler removes the call from checks, which do not use it.
[[gnu::pure]] int64_t numpy_item_bytes(PyObject* dtype) noexcept;

/// TensorReader for numpy.ndarray and its subclasses.
struct NumpyReader : EagerReader {
    static constexpr const char* name = "numpy";
    static constexpr uint32_t known_flags =
        tensor_c_contiguous | tensor_f_contiguous | tensor_aligned | tensor_writeable;
    static constexpr bool knows_dispatch_keys = false;
    static constexpr bool knows_storage_offset = false;
    static constexpr bool reads_subclasses = true;
    static constexpr bool may_be_compact = false;

    /// The element type word of NumPy's own types, by their number (NPY_TYPES); Linux
    /// x86-64.
    static constexpr uint32_t dtypes[] = {
        tensor_dtype(dtype_bool, 8),     tensor_dtype(dtype_int, 8),
        tensor_dtype(dtype_uint, 8),     tensor_dtype(dtype_int, 16),
        tensor_dtype(dtype_uint, 16),    tensor_dtype(dtype_int, 32),
        tensor_dtype(dtype_uint, 32),    tensor_dtype(dtype_int, 64),
        tensor_dtype(dtype_uint, 64),    tensor_dtype(dtype_int, 64),
        tensor_dtype(dtype_uint, 64),    tensor_dtype(dtype_float, 32),
        tensor_dtype(dtype_float, 64),   tensor_dtype(dtype_float, 128),
        tensor_dtype(dtype_complex, 64), tensor_dtype(dtype_complex, 128),
        tensor_dtype(dtype_complex, 256)};
    static constexpr int float16 = 23;

    /// dtype_object for everything except plain numbers in native byte order.
    static uint32_t dtype_word(PyObject* dtype) noexcept {
        const auto* head = reinterpret_cast<const NumpyDtype*>(dtype);
        const bool is_native = head->byte_order == '=' || head->byte_order == '|';
        constexpr int count = sizeof dtypes / sizeof *dtypes;
        if (is_native && static_cast<unsigned>(head->number) < count) [[likely]]
            return dtypes[head->number];
        if (is_native && head->number == float16) return tensor_dtype(dtype_float, 16);
        return tensor_dtype(dtype_object, 0);
    }

    static bool is_same_dtype(PyObject* found, PyObject* expected) noexcept {
        return same_numpy_dtype(found, expected);
    }

    /// Null for float16, which is not in `dtypes`.
    static PyObject* plain_dtype(uint32_t dtype) noexcept;

    /// If the element type is the expected object, its members are not read, which
    /// saves two dependent loads. Nobody reads the sizes of a 0-d array, which are
    /// null.
    static bool read_plain(const TensorPattern& pattern, PyObject* value, const void*,
                           TensorFacts& to) noexcept {
        const auto* array = reinterpret_cast<const NumpyArray*>(value);
        uint32_t dtype = static_cast<uint32_t>(pattern.plain_kind);
        if (array->dtype != pattern.plain_dtype) [[unlikely]]
            dtype = dtype_word(array->dtype);
        to.kind = tensor_kind(dtype, device_cpu, 0, static_cast<unsigned>(array->rank));
        to.flags = static_cast<uint32_t>(array->flags) & known_flags;
        to.sizes = array->sizes;
        to.strides = array->strides;
        return true;
    }

    static bool read_shape(PyObject* value, TensorShape& to) noexcept {
        const auto* array = reinterpret_cast<const NumpyArray*>(value);
        to = {array->sizes, array->strides, false, static_cast<unsigned>(array->rank)};
        return true;
    }

    static bool read(PyObject* value, const void*, TensorFacts& to) noexcept {
        const auto* array = reinterpret_cast<const NumpyArray*>(value);
        const uint32_t dtype = dtype_word(array->dtype);
        to.kind = tensor_kind(dtype, device_cpu, 0, static_cast<unsigned>(array->rank));
        to.flags = static_cast<uint32_t>(array->flags) & known_flags;
        to.sizes = array->sizes ? array->sizes : no_sizes;
        to.strides = array->sizes ? array->strides : no_sizes;
        to.dtype = array->dtype;
        to.data = array->data;
        to.item_bytes = numpy_item_bytes(array->dtype);
        to.stride_bytes = 1;
        return true;
    }
};

/// The reader for a type named numpy.ndarray. Null with a message if this NumPy has
/// another memory layout. Creates arrays to find out: slow, runs Python code of NumPy.
const TensorReader* verified_numpy(PyTypeObject* ndarray, const char*& problem);

}  // namespace guardtree
