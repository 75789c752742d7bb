// Computes the keys that are not inline in keys.h.
// SPDX-License-Identifier: MIT
#include "keys.h"

namespace guardtree {

uint64_t rare_constant_key(PyObject* value) noexcept {
    if (PyFloat_CheckExact(value)) {
        uint64_t bits = 0;
        const double number = PyFloat_AS_DOUBLE(value);
        std::memcpy(&bits, &number, sizeof bits);
        return bits;
    }
    // Hashing objects of exactly these types runs no user code and does not fail.
    if (PyUnicode_CheckExact(value) || PyLong_CheckExact(value) ||
        PyBytes_CheckExact(value)) {
        return static_cast<uint64_t>(PyObject_Hash(value));
    }
    return address_key(Py_TYPE(value));
}

}  // namespace guardtree
