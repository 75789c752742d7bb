// The torch reader: metadata by the inline accessors of c10, built for one torch.
// SPDX-License-Identifier: MIT
//
// Built by `python -m guardtree.torch build` against the installed torch; links libc10
// alone.
#include <Python.h>

#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/version.h>

#include "reader.h"
#include "ref.h"
#include "state.h"

namespace guardtree {
namespace {

/// THPVariable (torch/csrc/autograd/python_variable.h): the head of every tensor.
struct TorchTensor {
    PyObject_HEAD
    c10::TensorImpl* impl;
};

/// Opens what TensorImpl keeps protected: whether an accessor would leave the inline
/// path, where it may throw or run Python.
struct Opened : c10::TensorImpl {
    bool has_custom_sizes() const {
        return matches_policy(SizesStridesPolicy::CustomSizes);
    }

    bool has_custom_strides() const {
        return matches_policy(SizesStridesPolicy::CustomStrides);
    }

    bool has_custom_device() const {
        return device_policy_ || !device_opt_.has_value();
    }

    bool has_custom_layout() const { return layout_policy_; }
};

/// Our words for torch's own numbers.
constexpr uint32_t dtype_word(c10::ScalarType type) {
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
    case c10::ScalarType::QInt32: return tensor_dtype(dtype_own + 14, 32);
    case c10::ScalarType::Bits16: return tensor_dtype(dtype_own + 22, 16);
    default: return tensor_dtype((dtype_own + static_cast<unsigned>(type)) & 0xff, 8);
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

unsigned device_word(c10::DeviceType type) {
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

struct TorchReader {
    static constexpr const char* name = "torch";
    static constexpr uint32_t known_flags =
        tensor_requires_grad | tensor_conj | tensor_neg;
    static constexpr bool knows_dispatch_keys = true;
    static constexpr bool knows_storage_offset = true;
    static constexpr bool reads_subclasses = true;

    static bool read(PyObject* value, const void*, TensorFacts& to) noexcept {
        // Null after a constructor that failed.
        const auto* impl = reinterpret_cast<const TorchTensor*>(value)->impl;
        if (!impl || impl == c10::UndefinedTensorImpl::singleton()) return false;
        const auto& opened = static_cast<const Opened&>(*impl);
        unsigned rank = unknown_tensor_rank;
        if (!opened.has_custom_sizes()) [[likely]] {
            const c10::IntArrayRef sizes = impl->sizes();
            rank = static_cast<unsigned>(sizes.size());
            to.sizes = sizes.data();
            to.storage_offset = impl->storage_offset();
        }
        if (!opened.has_custom_strides()) [[likely]]
            to.strides = impl->strides().data();
        unsigned device = 0;
        unsigned device_index = 0;
        if (!opened.has_custom_device()) [[likely]] {
            const c10::Device found = impl->device();
            device = device_word(found.type());
            device_index = static_cast<unsigned>(found.index() + 1);
        }
        unsigned layout = layout_other;
        if (!opened.has_custom_layout()) [[likely]]
            layout = static_cast<unsigned>(impl->layout());
        const auto number = static_cast<unsigned>(impl->dtype().toScalarType());
        to.kind =
            tensor_kind(dtype_words.words[number], device, device_index, rank, layout);
        const c10::DispatchKeySet keys = impl->key_set();
        to.dispatch_keys = keys.raw_repr();
        to.flags = (impl->requires_grad() ? tensor_requires_grad : 0u) |
                   (impl->is_conj() ? tensor_conj : 0u) |
                   (impl->is_neg() ? tensor_neg : 0u);
        to.item_bytes = static_cast<int64_t>(impl->dtype().itemsize());
        to.stride_bytes = to.item_bytes;
        to.data = data_of(opened, to);
        return true;
    }

    /// The first element, without a look at what copies on write or may throw.
    static const char* data_of(const Opened& impl, const TensorFacts& facts) noexcept {
        const c10::StorageImpl* storage = impl.unsafe_storage().unsafeGetStorageImpl();
        if (!storage || !facts.sizes) return nullptr;
        const void* data =
            const_cast<c10::StorageImpl*>(storage)->_mutable_data_ptr_no_checks().get();
        if (!data) return nullptr;
        return static_cast<const char*>(data) + facts.storage_offset * facts.item_bytes;
    }

    static uint64_t local_keys(uint64_t keys) noexcept {
        const c10::impl::LocalDispatchKeySet local =
            c10::impl::tls_local_dispatch_key_set();
        return (keys | local.included_.raw_repr()) & ~local.excluded_.raw_repr();
    }
};

PyMethodDef methods[] = {{"state_facts", state_facts, METH_NOARGS,
                          "What the calling thread's torch is set to."},
                         {"state_check", state_check, METH_O,
                          "A native check of some of the state's facts."},
                         {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_plugin",
                          "guardtree's torch reader.",
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace guardtree

PyMODINIT_FUNC PyInit__plugin() {
    using namespace guardtree;
    static constexpr TensorReader table = reader_table<TorchReader>();
    if (!aten().resolve()) return nullptr;
    auto module = Owned<>::steal(PyModule_Create(&definition));
    auto reader = Owned<>::steal(PyCapsule_New(const_cast<TensorReader*>(&table),
                                               tensor_reader_capsule, nullptr));
    if (!module || !reader ||
        PyObject_SetAttrString(module.get(), "reader", reader.get()) != 0 ||
        PyModule_AddStringConstant(module.get(), "torch_version", TORCH_VERSION) != 0) {
        return nullptr;
    }
    return module.release();
}
