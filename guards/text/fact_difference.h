// FactDifference: one fact of a value that is not what a guard expects.
// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace guardtree {

struct FactDifference {
    std::string fact;      ///< "shape", "dtype"
    int index = -1;        ///< the dimension of "shape" and "strides"; otherwise -1
    std::string expected;  ///< "8", "1 to 8", "float32"
    std::string found;     ///< "9", "float64"

    /// "shape[0] 9 (expected 8)"
    std::string text() const {
        const std::string at = index < 0 ? "" : "[" + std::to_string(index) + "]";
        return fact + at + " " + found + " (expected " + expected + ")";
    }
};

}  // namespace guardtree
