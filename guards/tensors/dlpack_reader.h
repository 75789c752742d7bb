// Reads tensors of libraries that provide DLPack's C exchange interface.
// SPDX-License-Identifier: MIT
#pragma once
#include "reader.h"

namespace guardtree {

/// DLTensor as dlpack.h 1.3 declares it. The version number determines the layout.
struct DLPackTensor {
    void* data;
    int32_t device;
    int32_t device_index;
    int32_t rank;
    uint8_t dtype_code;
    uint8_t dtype_bits;
    uint16_t dtype_lanes;
    int64_t* sizes;
    int64_t* strides;
    uint64_t byte_offset;
};

/// DLPackExchangeAPI: a version, a chain of older versions, five functions.
struct DLPackExchange {
    uint32_t major;
    uint32_t minor;
    DLPackExchange* older;
    void* managed_tensor_allocator;
    void* managed_tensor_from_py_object;
    void* managed_tensor_to_py_object;
    /// Returns 0 and a view that the object owns, or -1 with an exception.
    int (*tensor_from_py_object)(void* object, DLPackTensor* to);
    void* current_work_stream;
};

/// TensorReader for exactly the registered types, not for subclasses, whose interface
/// may run Python code (a fake tensor warns).
struct DLPackReader : EagerReader {
    static constexpr const char* name = "dlpack";
    static constexpr uint32_t known_flags = 0;
    static constexpr bool knows_dispatch_keys = false;
    static constexpr bool knows_storage_offset = false;
    static constexpr bool reads_subclasses = false;
    static constexpr bool may_be_compact = true;

    /// `context` is the type's DLPackExchange.
    static bool read(PyObject* value, const void* context, TensorFacts& to) noexcept;
};

/// The interned name in `place`, which is created on the first call. Null, without an
/// exception, if there is no memory.
PyObject* kept_name(PyObject*& place, const char* text) noexcept;

/// An entry of the type's own dict, borrowed. Null, without an exception, if there is
/// no such entry or `name` is null.
PyObject* own_attribute(PyTypeObject* type, PyObject* name) noexcept;

/// The reader for a type that has the interface. It is never freed. Null if the type
/// has no interface, and for torch's subclasses with their own `__torch_dispatch__`.
/// `is_own`: ignore an interface that is inherited from a base. Runs no user code.
const TensorReader* dlpack_reader(PyTypeObject* type, bool is_own);

}  // namespace guardtree
