// Our words for torch's numbers of dtypes and devices.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include "reader.h"

namespace guardtree {
namespace {

constexpr uint32_t dtype_word(c10::ScalarType type) {
    const auto number = static_cast<unsigned>(type);
    const auto below = [&](c10::ScalarType first) {
        return number - static_cast<unsigned>(first);
    };
    if (below(c10::ScalarType::UInt1) < 7)
        return tensor_dtype(dtype_uint, 1 + below(c10::ScalarType::UInt1));
    if (below(c10::ScalarType::Int1) < 7)
        return tensor_dtype(dtype_int, 1 + below(c10::ScalarType::Int1));
    switch (type) {
    case c10::ScalarType::Byte: return tensor_dtype(dtype_uint, 8);
    case c10::ScalarType::Char: return tensor_dtype(dtype_int, 8);
    case c10::ScalarType::Short: return tensor_dtype(dtype_int, 16);
    case c10::ScalarType::Int: return tensor_dtype(dtype_int, 32);
    case c10::ScalarType::Long: return tensor_dtype(dtype_int, 64);
    case c10::ScalarType::UInt16: return tensor_dtype(dtype_uint, 16);
    case c10::ScalarType::UInt32: return tensor_dtype(dtype_uint, 32);
    case c10::ScalarType::UInt64: return tensor_dtype(dtype_uint, 64);
    case c10::ScalarType::Half: return tensor_dtype(dtype_float, 16);
    case c10::ScalarType::Float: return tensor_dtype(dtype_float, 32);
    case c10::ScalarType::Double: return tensor_dtype(dtype_float, 64);
    case c10::ScalarType::BFloat16: return tensor_dtype(dtype_bfloat, 16);
    case c10::ScalarType::ComplexHalf: return tensor_dtype(dtype_complex, 32);
    case c10::ScalarType::ComplexFloat: return tensor_dtype(dtype_complex, 64);
    case c10::ScalarType::ComplexDouble: return tensor_dtype(dtype_complex, 128);
    case c10::ScalarType::Bool: return tensor_dtype(dtype_bool, 8);
    case c10::ScalarType::Float8_e4m3fn: return tensor_dtype(10, 8);
    case c10::ScalarType::Float8_e4m3fnuz: return tensor_dtype(11, 8);
    case c10::ScalarType::Float8_e5m2: return tensor_dtype(12, 8);
    case c10::ScalarType::Float8_e5m2fnuz: return tensor_dtype(13, 8);
    case c10::ScalarType::Float8_e8m0fnu: return tensor_dtype(14, 8);
    case c10::ScalarType::Float4_e2m1fn_x2: return tensor_dtype(17, 4, 2);
    case c10::ScalarType::QInt32: return tensor_dtype(dtype_own + 14, 32);
    case c10::ScalarType::Bits16: return tensor_dtype(dtype_own + 22, 16);
    case c10::ScalarType{46}:  // BComplex32, since torch 2.14
        return tensor_dtype(dtype_own + 46, 32);
    default: return tensor_dtype((dtype_own + number) & 0xff, 8);
    }
}

constexpr int dtype_count = static_cast<int>(c10::ScalarType::NumOptions);

/// dtype_word by number, so that a check reads it without a jump.
struct DtypeWords {
    constexpr DtypeWords() : words() {
        for (int i = 0; i <= dtype_count; ++i) {
            words[i] = dtype_word(static_cast<c10::ScalarType>(i));
        }
    }

    uint32_t words[dtype_count + 1];
};

constexpr DtypeWords dtype_words;

constexpr int device_count = c10::COMPILE_TIME_MAX_DEVICE_TYPES;

constexpr unsigned device_word(c10::DeviceType type) {
    switch (type) {
    case c10::DeviceType::CPU: return device_cpu;
    case c10::DeviceType::CUDA: return device_cuda;
    case c10::DeviceType::Vulkan: return 7;
    case c10::DeviceType::MPS: return 8;
    case c10::DeviceType::HIP: return 10;
    case c10::DeviceType::XPU: return 14;
    case c10::DeviceType::MAIA: return 17;
    default: return device_own + static_cast<unsigned>(type);
    }
}

/// device_word by number.
struct DeviceWords {
    constexpr DeviceWords() : words() {
        for (int i = 0; i < device_count; ++i) {
            words[i] =
                static_cast<uint8_t>(device_word(static_cast<c10::DeviceType>(i)));
        }
    }

    uint8_t words[device_count];
};

constexpr DeviceWords device_words;

}  // namespace
}  // namespace guardtree
