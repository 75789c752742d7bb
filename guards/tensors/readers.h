// Which reader serves which type.
// SPDX-License-Identifier: MIT
#pragma once
#include "../operands/operand.h"

#include "numpy_reader.h"

namespace guardtree {

/// Registers a reader for a type, which is kept alive; another one registered before is
/// replaced for what is built from now on. False with a sentence when the reader is of
/// another version. Needs the GIL.
bool register_tensor_type(PyTypeObject* type, const TensorReader* reader,
                          Diagnostic& problem);

/// The reader of a type that was registered, of NumPy's arrays, of types with the
/// DLPack interface, and of those that inherit from one whose reader allows it; null
/// when there is none. The first look at a library's type registers it. Runs no user
/// code.
const TensorReader* find_tensor_reader(PyTypeObject* type) noexcept;

/// The type whose reader was asked for last: programs look at tensors of one type.
struct LastTensorType {
    const PyTypeObject* type = nullptr;
    const TensorReader* reader = nullptr;
};

[[gnu::visibility("hidden")]] inline LastTensorType last_tensor_type;

/// A type that NumpyReader reads: numpy.ndarray, once it was seen. Never freed.
[[gnu::visibility("hidden")]] inline const PyTypeObject* numpy_array_type = nullptr;

/// find_tensor_reader for values of one type, 1 ns.
inline const TensorReader* tensor_reader_of(PyObject* value) noexcept {
    PyTypeObject* const type = Py_TYPE(value);
    if (type == last_tensor_type.type) [[likely]]
        return last_tensor_type.reader;
    return find_tensor_reader(type);
}

/// The same for the type of an example that a user gave: also DLPack's of a base.
const TensorReader* demand_tensor_reader(PyTypeObject* type, Diagnostic& problem);

/// A tensor's facts; false when it is none, or cannot be read.
inline bool read_tensor(PyObject* value, TensorFacts& to) noexcept {
    const TensorReader* reader = tensor_reader_of(value);
    return reader && reader->read(value, reader->context, to);
}

/// A size, stride or the rank as Python counts positions: false when it has none.
inline bool read_tensor_size(PyObject* value, int64_t index, int64_t& to) noexcept {
    const int64_t* size = nullptr;
    if (Py_TYPE(value) == numpy_array_type) {  // without a call
        size = find_size_of<NumpyReader>(value, nullptr, index);
    } else if (const TensorReader* reader = tensor_reader_of(value)) {
        size = reader->find_size(value, reader->context, index);
    }
    if (!size) return false;
    to = *size;
    return true;
}

bool read_tensor_stride(PyObject* value, int64_t index, int64_t& to) noexcept;
bool read_tensor_rank(PyObject* value, int64_t& to) noexcept;
bool read_tensor_storage_offset(PyObject* value, int64_t& to) noexcept;

/// An int, or null without an exception when there is no memory for it.
inline Owned<> int_object(int64_t value) noexcept {
    auto made = Owned<>::steal(PyLong_FromLongLong(value));
    if (!made) PyErr_Clear();
    return made;
}

}  // namespace guardtree
