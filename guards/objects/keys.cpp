// Computes the keys that are not inline in keys.h.
// SPDX-License-Identifier: MIT
#include "keys.h"

#include <bit>

namespace guardtree {

uint64_t rare_constant_key(PyObject* value) noexcept {
    if (PyFloat_CheckExact(value))
        return std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(value));
    // Hashing objects of exactly these types runs no user code and does not fail.
    if (PyUnicode_CheckExact(value) || PyLong_CheckExact(value) ||
        PyBytes_CheckExact(value)) {
        return static_cast<uint64_t>(PyObject_Hash(value));
    }
    return address_key(Py_TYPE(value));
}

}  // namespace guardtree
