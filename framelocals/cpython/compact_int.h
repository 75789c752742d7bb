// Reads ints of one digit, which nearly all ints are. Needs no private header.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>

namespace guardtree {

/// Reads `number`, an int (not checked), if it has at most one digit of 30 bits. 3.12
/// and later store sign and size in the tag of the digits, with an unstable API for it.
/// Earlier versions store the sign in the size (Include/cpython/longintrepr.h).
inline bool read_compact_int(PyObject* number, int64_t& to) noexcept {
#if PY_VERSION_HEX >= 0x030C0000
    const auto* digits = reinterpret_cast<const PyLongObject*>(number);
    if (!PyUnstable_Long_IsCompact(digits)) return false;
    to = PyUnstable_Long_CompactValue(digits);
#else
    const Py_ssize_t size = Py_SIZE(number);
    if (size < -1 || size > 1) return false;
    to = size * static_cast<int64_t>(
                    reinterpret_cast<const PyLongObject*>(number)->ob_digit[0]);
#endif
    return true;
}

}  // namespace guardtree
