// Names of element types, devices and layouts, as users write and read them.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "reader.h"

namespace guardtree {

/// "float32", "bfloat16", "float8_e4m3fn", "qint8": the names of torch and NumPy.
std::string dtype_name(uint32_t dtype);

/// Returns false if no element type has that name. Also accepts "torch.float32".
bool dtype_of_name(std::string_view name, uint32_t& to);

/// "cpu", "cuda:1". Reads the bits of tensor_device_mask.
std::string device_name(uint64_t kind);

bool device_of_name(std::string_view name, uint64_t& to);

/// "strided", "sparse_csr".
std::string layout_name(unsigned layout);

bool layout_of_name(std::string_view name, unsigned& to);

}  // namespace guardtree
