// Finds the reader for a type.
// SPDX-License-Identifier: MIT
#pragma once
#include "../operands/operand.h"

#include "numpy_reader.h"

namespace guardtree {

/// Registers a reader for a type, which stays alive from then on. It replaces an
/// earlier reader for guards that are built later. Returns false with a message if the
/// reader has another version. Needs the GIL.
bool register_tensor_type(PyTypeObject* type, const TensorReader* reader,
                          Diagnostic& problem);

/// The reader for a registered type, for NumPy's arrays, for a type with the DLPack
/// interface, and for a type that inherits from one of these if its reader allows that.
/// Null if there is none. The first call for a type of a library registers it. Runs no
/// user code.
const TensorReader* find_tensor_reader(PyTypeObject* type) noexcept;

/// The type whose reader was looked up last. Programs mostly use tensors of one type.
struct LastTensorType {
    const PyTypeObject* type = nullptr;
    const TensorReader* reader = nullptr;
};

[[gnu::visibility("hidden")]] inline LastTensorType last_tensor_type;

/// A type that NumpyReader reads: numpy.ndarray, after its first use. Never freed.
[[gnu::visibility("hidden")]] inline const PyTypeObject* numpy_array_type = nullptr;

/// find_tensor_reader, with a cache of the last type. 1 ns.
inline const TensorReader* tensor_reader_of(PyObject* value) noexcept {
    PyTypeObject* const type = Py_TYPE(value);
    if (type == last_tensor_type.type) [[likely]]
        return last_tensor_type.reader;
    return find_tensor_reader(type);
}

/// find_tensor_reader for the type of a user's example tensor. Also accepts an
/// inherited DLPack interface.
const TensorReader* demand_tensor_reader(PyTypeObject* type, Diagnostic& problem);

/// To be called when a guard on tensors of any type is built, because readers must be
/// registered before it reads: imports guardtree.torch if torch is imported.
void expect_tensors();

/// Reads a tensor's facts. Returns false if the value is not a tensor or cannot be
/// read.
inline bool read_tensor(PyObject* value, TensorFacts& to) noexcept {
    const TensorReader* reader = tensor_reader_of(value);
    return reader && reader->read(value, reader->context, to);
}

/// Reads a tensor's sizes and strides. Returns false if the value is not a tensor or
/// cannot be read.
inline bool read_tensor_shape(PyObject* value, TensorShape& to) noexcept {
    if (Py_TYPE(value) == numpy_array_type)  // without a call
        return NumpyReader::read_shape(value, to);
    const TensorReader* reader = tensor_reader_of(value);
    return reader && reader->read_shape(value, reader->context, to);
}

/// One of the sizes. A negative index counts from the end. Returns false if there is no
/// such dimension.
inline bool size_at(const TensorShape& of, int64_t index, int64_t& to) noexcept {
    if (!of.sizes || !find_dimension(of.rank, index)) return false;
    to = of.sizes[index];
    return true;
}

/// One of the strides, likewise.
inline bool stride_at(const TensorShape& of, int64_t index, int64_t& to) noexcept {
    if (!of.strides || !find_dimension(of.rank, index)) return false;
    to = stride_of(of, static_cast<unsigned>(index));
    return true;
}

/// Reads a size or a stride. A negative index counts from the end. Returns false if
/// there is no such value.
inline bool read_tensor_size(PyObject* value, int64_t index, int64_t& to) noexcept {
    TensorShape shape;
    return read_tensor_shape(value, shape) && size_at(shape, index, to);
}

inline bool read_tensor_stride(PyObject* value, int64_t index, int64_t& to) noexcept {
    TensorShape shape;
    return read_tensor_shape(value, shape) && stride_at(shape, index, to);
}

bool read_tensor_storage_offset(PyObject* value, int64_t& to) noexcept;

/// An int object. Null, without an exception, if there is no memory.
inline Owned<> int_object(int64_t value) noexcept {
    auto made = Owned<>::steal(PyLong_FromLongLong(value));
    if (!made) PyErr_Clear();
    return made;
}

}  // namespace guardtree
