// Verifies that this NumPy stores its arrays in the layout that the reader expects.
// SPDX-License-Identifier: MIT
#include "numpy_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "../../framelocals/ref.h"

namespace guardtree {
namespace {

/// Where an element type stores its size: 64 bits in NumPy 2, 32 bits in NumPy 1.
bool is_size_64_bits = true;

constexpr size_t size_offset_64 = 40;
constexpr size_t size_offset_32 = 32;

/// `module.<name>(*arguments)`, or null without an exception.
Owned<> called(PyObject* object, const char* name, const char* format,
               const char* text) {
    auto method = Owned<>::steal(PyObject_GetAttrString(object, name));
    Owned<> result;
    if (method) {
        result = Owned<>::steal(PyObject_CallFunction(method.get(), format, text));
    }
    PyErr_Clear();
    return result;
}

bool has_value(PyObject* object, const char* name, const char* format, long a, long b) {
    auto found = Owned<>::steal(PyObject_GetAttrString(object, name));
    auto expected = Owned<>::steal(Py_BuildValue(format, a, b));
    const bool is_equal =
        found && expected &&
        PyObject_RichCompareBool(found.get(), expected.get(), Py_EQ) == 1;
    PyErr_Clear();
    return is_equal;
}

/// Whether an int16 array of shape (2, 3), and its transpose, report the values that
/// the reader reads.
bool reads_truly(PyObject* array) {
    TensorFacts facts;
    NumpyReader::read(array, nullptr, facts);
    const uint64_t kind = tensor_kind(tensor_dtype(dtype_int, 16), device_cpu, 0, 2);
    return facts.kind == kind && facts.sizes && facts.strides && facts.data &&
           has_value(array, "shape", "(ll)", facts.sizes[0], facts.sizes[1]) &&
           has_value(array, "strides", "(ll)", facts.strides[0], facts.strides[1]) &&
           facts.sizes[0] + facts.sizes[1] == 5 &&
           facts.strides[0] + facts.strides[1] == 8 && facts.item_bytes == 2;
}

constexpr size_t dtype_count = std::size(NumpyReader::dtypes);

/// NumPy's own element types by their number. Never freed, as in NumPy itself.
PyObject* own_dtypes[dtype_count] = {};

void keep_dtypes(PyObject* ndarray) {
    constexpr char letters[] = "?bBhHiIlLqQfdgFDG";
    static_assert(std::size(letters) == dtype_count + 1);
    for (size_t i = 0; i < dtype_count; ++i) {
        const char letter[] = {letters[i], '\0'};
        auto array =
            Owned<>::steal(PyObject_CallFunction(ndarray, "((i)s)", 0, letter));
        PyErr_Clear();
        if (!array || own_dtypes[i]) continue;
        PyObject* dtype = reinterpret_cast<const NumpyArray*>(array.get())->dtype;
        if (NumpyReader::dtype_word(dtype) == NumpyReader::dtypes[i])
            own_dtypes[i] = Owned<>::share(dtype).release();
    }
}

}  // namespace

PyObject* NumpyReader::plain_dtype(uint32_t dtype) noexcept {
    const auto* const found = std::ranges::find(dtypes, dtype);
    return found == std::end(dtypes) ? nullptr : own_dtypes[found - dtypes];
}

int64_t numpy_item_bytes(PyObject* dtype) noexcept {
    const auto* bytes = reinterpret_cast<const char*>(dtype);
    if (is_size_64_bits) {
        int64_t size = 0;
        std::memcpy(&size, bytes + size_offset_64, sizeof size);
        return size;
    }
    int32_t size = 0;
    std::memcpy(&size, bytes + size_offset_32, sizeof size);
    return size;
}

const TensorReader* verified_numpy(PyTypeObject* ndarray, const char*& problem) {
    static constexpr TensorReader table = reader_table<NumpyReader>();
    problem =
        "this NumPy keeps its arrays in another way than NumPy 1 and 2 do: their "
        "metadata cannot be read";
    auto* type = reinterpret_cast<PyObject*>(ndarray);
    if (static_cast<size_t>(ndarray->tp_basicsize) < sizeof(NumpyArray)) return nullptr;
    // numpy.ndarray((2, 3), 'int16'). Uses only what numpy itself defines.
    auto array = Owned<>::steal(PyObject_CallFunction(type, "((ii)s)", 2, 3, "int16"));
    PyErr_Clear();
    if (!array || Py_TYPE(array.get()) != ndarray) return nullptr;
    const auto* head = reinterpret_cast<const NumpyArray*>(array.get());
    is_size_64_bits = has_value(head->dtype, "itemsize", "l", 2, 0) &&
                      numpy_item_bytes(head->dtype) == 2;
    auto turned = called(array.get(), "transpose", nullptr, nullptr);
    if (!turned || !reads_truly(array.get()) || !reads_truly(turned.get())) {
        return nullptr;
    }
    TensorFacts facts;
    TensorFacts other;
    NumpyReader::read(array.get(), nullptr, facts);
    NumpyReader::read(turned.get(), nullptr, other);
    constexpr uint32_t common = tensor_aligned | tensor_writeable;
    if (facts.flags != (tensor_c_contiguous | common) ||
        other.flags != (tensor_f_contiguous | common)) {
        return nullptr;
    }
    keep_dtypes(type);
    problem = nullptr;
    return &table;
}

}  // namespace guardtree
