// Reads tensors of any library that offers DLPack's C exchange interface.
// SPDX-License-Identifier: MIT
#pragma once
#include "reader.h"

namespace guardtree {

/// What dlpack.h 1.3 declares, in the layout that its version number stands for.
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

/// DLPackExchangeAPI: a version, a chain of older ones, five functions.
struct DLPackExchange {
    uint32_t major;
    uint32_t minor;
    DLPackExchange* older;
    void* managed_tensor_allocator;
    void* managed_tensor_from_py_object;
    void* managed_tensor_to_py_object;
    /// 0 and a view that the object owns, or -1 with an exception.
    int (*tensor_from_py_object)(void* object, DLPackTensor* to);
    void* current_work_stream;
};

/// TensorReader for exactly the types that were registered: the interface of a subclass
/// may run Python (a fake tensor warns).
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

/// The interned name that is kept in `place`, made at the first request. Null without
/// memory, and no exception is set.
PyObject* kept_name(PyObject*& place, const char* text) noexcept;

/// An entry of the type's own dict, borrowed; null, and nothing pending, without one
/// or without a name.
PyObject* own_attribute(PyTypeObject* type, PyObject* name) noexcept;

/// The reader for a type that has the interface, kept for ever; null when it has none.
/// Runs no user code. `is_own`: only where the type itself, not a base, has it. Null
/// also for torch's subclasses with a `__torch_dispatch__` of their own.
const TensorReader* dlpack_reader(PyTypeObject* type, bool is_own);

}  // namespace guardtree
