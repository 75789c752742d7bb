// The tables of names. torch's own element types use its ScalarType numbers.
// SPDX-License-Identifier: MIT
#include "names.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace guardtree {
namespace {

struct Named {
    std::string_view name;
    unsigned value;
};

constexpr Named families[] = {{"int", dtype_int},
                              {"uint", dtype_uint},
                              {"float", dtype_float},
                              {"bfloat", dtype_bfloat},
                              {"complex", dtype_complex}};

constexpr Named dtypes[] = {{"bool", tensor_dtype(dtype_bool, 8)},
                            {"float8_e3m4", tensor_dtype(7, 8)},
                            {"float8_e4m3", tensor_dtype(8, 8)},
                            {"float8_e4m3b11fnuz", tensor_dtype(9, 8)},
                            {"float8_e4m3fn", tensor_dtype(10, 8)},
                            {"float8_e4m3fnuz", tensor_dtype(11, 8)},
                            {"float8_e5m2", tensor_dtype(12, 8)},
                            {"float8_e5m2fnuz", tensor_dtype(13, 8)},
                            {"float8_e8m0fnu", tensor_dtype(14, 8)},
                            {"float4_e2m1fn_x2", tensor_dtype(17, 4, 2)},
                            {"qint8", tensor_dtype(dtype_own + 12, 8)},
                            {"quint8", tensor_dtype(dtype_own + 13, 8)},
                            {"qint32", tensor_dtype(dtype_own + 14, 32)},
                            {"quint4x2", tensor_dtype(dtype_own + 16, 8)},
                            {"quint2x4", tensor_dtype(dtype_own + 17, 8)},
                            {"bits1x8", tensor_dtype(dtype_own + 18, 8)},
                            {"bits2x4", tensor_dtype(dtype_own + 19, 8)},
                            {"bits4x2", tensor_dtype(dtype_own + 20, 8)},
                            {"bits8", tensor_dtype(dtype_own + 21, 8)},
                            {"bits16", tensor_dtype(dtype_own + 22, 16)},
                            {"bcomplex32", tensor_dtype(dtype_own + 46, 32)}};

constexpr Named devices[] = {{"cpu", device_cpu},
                             {"cuda", device_cuda},
                             {"cuda_host", 3},
                             {"opencl", 4},
                             {"vulkan", 7},
                             {"mps", 8},
                             {"vpi", 9},
                             {"rocm", 10},
                             {"rocm_host", 11},
                             {"ext_dev", 12},
                             {"cuda_managed", 13},
                             {"xpu", 14},
                             {"webgpu", 15},
                             {"hexagon", 16},
                             {"maia", 17},
                             {"mkldnn", device_own + 2},
                             {"xla", device_own + 9},
                             {"meta", device_own + 14},
                             {"hpu", device_own + 15},
                             {"lazy", device_own + 17},
                             {"ipu", device_own + 18},
                             {"mtia", device_own + 19},
                             {"privateuseone", device_own + 20}};

constexpr Named layouts[] = {
    {"strided", layout_strided}, {"sparse", 1},     {"sparse_csr", 2}, {"_mkldnn", 3},
    {"sparse_csc", 4},           {"sparse_bsr", 5}, {"sparse_bsc", 6}, {"jagged", 7}};

template <size_t size>
std::string_view name_in(const Named (&names)[size], unsigned value) {
    const auto found = std::ranges::find(names, value, &Named::value);
    return found == std::end(names) ? std::string_view() : found->name;
}

template <size_t size>
bool value_in(const Named (&names)[size], std::string_view name, unsigned& to) {
    const auto found = std::ranges::find(names, name, &Named::name);
    if (found == std::end(names)) return false;
    to = found->value;
    return true;
}

bool number_of(std::string_view text, unsigned& to) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, to);
    return !text.empty() && error == std::errc() && stop == end;
}

std::string_view without_module(std::string_view name) {
    constexpr std::string_view module = "torch.";
    if (name.starts_with(module)) name.remove_prefix(module.size());
    return name;
}

}  // namespace

std::string dtype_name(uint32_t dtype) {
    const std::string_view name = name_in(dtypes, dtype);
    if (!name.empty()) return std::string(name);
    const unsigned bits = dtype >> 8 & 0xffff;
    const unsigned lanes = dtype >> 24;
    const std::string_view family = name_in(families, dtype & 0xff);
    std::string text = family.empty() ? "dtype" + std::to_string(dtype & 0xff) + "_"
                                      : std::string(family);
    text += std::to_string(bits);
    return lanes == 1 ? text : text + "x" + std::to_string(lanes);
}

bool dtype_of_name(std::string_view name, uint32_t& to) {
    name = without_module(name);
    if (value_in(dtypes, name, to)) return true;
    const size_t digits = name.find_first_of("0123456789");
    if (digits == std::string_view::npos || digits == 0) return false;
    std::string_view rest = name.substr(digits);
    std::string_view known = name.substr(0, digits);
    unsigned family = 0;
    unsigned lanes = 1;
    unsigned bits = 0;
    const size_t line = rest.find('_');
    if (known == "dtype" && line != std::string_view::npos) {  // a dtype without a name
        if (!number_of(rest.substr(0, line), family) || family > 0xff) return false;
        rest = rest.substr(line + 1);
        known = {};
    }
    const size_t cross = rest.find('x');
    if (cross != std::string_view::npos) {
        if (!number_of(rest.substr(cross + 1), lanes)) return false;
        rest = rest.substr(0, cross);
    }
    if ((!known.empty() && !value_in(families, known, family)) ||
        !number_of(rest, bits) || bits == 0 || bits > 0xffff || lanes == 0 ||
        lanes > 0xff) {
        return false;
    }
    to = tensor_dtype(family, bits, lanes);
    return true;
}

std::string device_name(uint64_t kind) {
    const auto device = static_cast<unsigned>(kind >> 32 & 0xff);
    const auto index = static_cast<unsigned>(kind >> 40 & 0xff);
    const std::string_view known = name_in(devices, device);
    const std::string name =
        known.empty() ? "device" + std::to_string(device) : std::string(known);
    return index == 0 ? name : name + ":" + std::to_string(index - 1);
}

bool device_of_name(std::string_view name, uint64_t& to) {
    unsigned index = 0;
    const size_t colon = name.find(':');
    if (colon != std::string_view::npos) {
        if (!number_of(name.substr(colon + 1), index) || index > 254) return false;
        ++index;
        name = name.substr(0, colon);
    }
    unsigned device = 0;
    if (!value_in(devices, name, device)) {
        constexpr std::string_view unnamed = "device";
        if (!name.starts_with(unnamed) ||
            !number_of(name.substr(unnamed.size()), device) || device > 255) {
            return false;
        }
    }
    to = tensor_kind(0, device, index, 0);
    return true;
}

std::string layout_name(unsigned layout) {
    const std::string_view name = name_in(layouts, layout);
    return name.empty() ? "layout" + std::to_string(layout) : std::string(name);
}

bool layout_of_name(std::string_view name, unsigned& to) {
    name = without_module(name);
    return value_in(layouts, name == "sparse_coo" ? "sparse" : name, to);
}

}  // namespace guardtree
