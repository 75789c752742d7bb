// The torch reader: metadata by the inline accessors of c10, built for one torch.
// SPDX-License-Identifier: MIT
//
// Built by `python -m guardtree.torch build` against the installed torch; links libc10
// alone.
#include <Python.h>

#include <algorithm>
#include <bit>

#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/version.h>

#include "compiled_call.h"
#include "entry_key.h"
#include "grad.h"
#include "numbers.h"
#include "reader.h"
#include "ref.h"
#include "state.h"
#include "torch_tensor.h"

namespace guardtree {
namespace {

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

using MetaPointer = std::unique_ptr<c10::AutogradMetaInterface>;

/// Reads TensorImpl's private autograd_meta_, whose accessor is a call: names of
/// members are not checked for access where a template is instantiated by hand.
template <MetaPointer c10::TensorImpl::*member>
struct AutogradMetaOf {
    friend const MetaPointer& autograd_meta_of(const c10::TensorImpl& impl) {
        return impl.*member;
    }
};

const MetaPointer& autograd_meta_of(const c10::TensorImpl& impl);
template struct AutogradMetaOf<&c10::TensorImpl::autograd_meta_>;

/// TensorImpl::requires_grad.
inline bool requires_grad(const c10::TensorImpl& impl) {
    const MetaPointer& meta = autograd_meta_of(impl);
    return meta && meta->requires_grad();
}

struct TorchReader {
    static constexpr const char* name = "torch";
    static constexpr uint32_t known_flags =
        tensor_requires_grad | tensor_conj | tensor_neg;
    static constexpr bool knows_dispatch_keys = true;
    static constexpr bool knows_storage_offset = true;
    static constexpr bool reads_subclasses = true;
    static constexpr bool may_be_compact = false;

    static bool read(PyObject* value, const void*, TensorFacts& to) noexcept {
        if (!read_brief(value, ~uint64_t{0}, to)) return false;
        const auto* impl = impl_of(value);
        const auto& opened = static_cast<const Opened&>(*impl);
        if (!opened.has_custom_strides()) to.strides = impl->strides().data();
        to.dispatch_keys = impl->key_set().raw_repr();
        to.flags =
            key_flags(*impl) | (requires_grad(*impl) ? tensor_requires_grad : 0u);
        to.stride_bytes = to.item_bytes;
        to.data = data_of(value, to);
        return true;
    }

    static bool read_shape(PyObject* value, TensorShape& to) noexcept {
        const auto* impl = impl_of(value);
        if (!impl || impl == c10::UndefinedTensorImpl::singleton()) return false;
        const auto& opened = static_cast<const Opened&>(*impl);
        to = {};
        if (!opened.has_custom_sizes()) {
            const c10::IntArrayRef sizes = impl->sizes();
            to.sizes = sizes.data();
            to.rank = static_cast<unsigned>(sizes.size());
        }
        if (!opened.has_custom_strides()) to.strides = impl->strides().data();
        return true;
    }

    static bool read_brief(PyObject* value, uint64_t mask, TensorFacts& to) noexcept {
        const auto* impl = impl_of(value);
        if (!impl || impl == c10::UndefinedTensorImpl::singleton()) return false;
        const auto& opened = static_cast<const Opened&>(*impl);
        const uint32_t dtype = dtype_of(*impl);
        to.item_bytes = bytes_of_dtype(dtype);
        if (!opened.has_custom_sizes()) to.storage_offset = impl->storage_offset();
        to.kind = dtype;
        if (!(mask & ~tensor_dtype_mask)) return true;
        const unsigned rank =
            opened.has_custom_sizes() ? unknown_tensor_rank : read_sizes(*impl, to);
        const uint64_t device =
            opened.has_custom_device() ? 0 : device_bits(impl->device());
        const unsigned layout = opened.has_custom_layout()
                                    ? unsigned{layout_other}
                                    : static_cast<unsigned>(impl->layout());
        to.kind = device | tensor_kind(dtype, 0, 0, rank, layout);
        return true;
    }

    /// The flags that `read_plain` leaves out: two of them are bits of the dispatch
    /// keys, and a wanted gradient may take a virtual call.
    static constexpr uint32_t late_flags = known_flags;

    static bool read_plain(const TensorPattern&, PyObject* value, const void*,
                           TensorFacts& to) noexcept {
        const auto* impl = impl_of(value);
        if (!impl) return false;
        const auto& opened = static_cast<const Opened&>(*impl);
        // An undefined tensor has no device.
        if (opened.has_custom_strides() || opened.has_custom_device()) return false;
        const unsigned rank = read_sizes(*impl, to);
        to.strides = impl->strides().data();
        const c10::Device device = impl->device();
        to.kind = own_kind(number_of(*impl), static_cast<uint8_t>(device.type()),
                           static_cast<uint8_t>(device.index()), rank);
        to.dispatch_keys = impl->key_set().raw_repr();
        return true;
    }

    static bool has_late_flags(const TensorPattern& pattern, PyObject* value) noexcept {
        const auto* impl = impl_of(value);
        const uint32_t mask = pattern.flags_mask;
        if (mask & ~tensor_requires_grad) return has_flags(pattern, *impl);
        if (!mask) return true;
        return has_wanted_gradient(pattern, *impl);
    }

    /// For a pattern that compares no other flag. Most tensors that want a gradient are
    /// leaves, whose own flag tells. No other cache line of the metadata is read then.
    static bool has_wanted_gradient(const TensorPattern& pattern,
                                    const c10::TensorImpl& impl) noexcept {
        const bool wanted = pattern.flags != 0;
        const MetaPointer& meta = autograd_meta_of(impl);
        if (!meta) return !wanted;
        return is_leaf_with_gradient(*meta) ? wanted : is_wanted(*meta, wanted);
    }

    /// Each AutogradMetaInterface is an AutogradMeta, as impl::get_autograd_meta of
    /// torch assumes, too. That of a view is a subclass, whose requires_grad asks this
    /// flag first.
    static bool is_leaf_with_gradient(const c10::AutogradMetaInterface& meta) noexcept {
        return static_cast<const torch::autograd::AutogradMeta&>(meta).requires_grad_;
    }

    /// The patterns that Dynamo's guards have, up to four dimensions.
    static TensorMatches matches_plain(const TensorPattern& plain) noexcept {
        const bool is_of_example = plain.are_keys_local && plain.dispatch_keys_mask &&
                                   plain.flags_mask == tensor_requires_grad;
        if (!is_of_example) return nullptr;
        switch (plain.kind >> 48 & 0xff) {
        case 0: return matches_example<0>;
        case 1: return matches_example<1>;
        case 2: return matches_example<2>;
        case 3: return matches_example<3>;
        case 4: return matches_example<4>;
        default: return nullptr;
        }
    }

    /// For a pattern that compares all facts of an example: everything but the gradient
    /// is compared in one branch.
    template <unsigned rank>
    static bool matches_example(const TensorPattern& pattern, PyObject* value,
                                const void* context) noexcept {
        static_assert(rank <= TensorPattern::near_dimensions);
        if (Py_TYPE(value) != pattern.type) [[unlikely]]
            return false;
        if (!knows_thread()) [[unlikely]]
            return matches_in_new_thread<TorchReader>(pattern, value, context);
        const auto* impl = impl_of(value);
        if (!impl) [[unlikely]]
            return false;
        const auto& opened = static_cast<const Opened&>(*impl);
        if (opened.has_custom_strides() || opened.has_custom_device()) [[unlikely]]
            return false;
        const c10::IntArrayRef sizes = impl->sizes();
        if (sizes.size() != rank) [[unlikely]]
            return false;
        const int64_t* const strides = impl->strides().data();
        const c10::Device device = impl->device();
        const uint64_t kind =
            own_kind(number_of(*impl), static_cast<uint8_t>(device.type()),
                     static_cast<uint8_t>(device.index()), rank);
        const uint64_t keys = local_keys(impl->key_set().raw_repr());
        uint64_t differs = (kind ^ pattern.plain_kind) | (keys ^ pattern.dispatch_keys);
        for (unsigned i = 0; i < rank; ++i) {
            const int64_t* const expected = pattern.near + 2 * i;
            differs |= static_cast<uint64_t>((sizes[i] ^ expected[0]) |
                                             (strides[i] ^ expected[1]));
        }
        if (differs) [[unlikely]]
            return false;
        return has_wanted_gradient(pattern, *impl);
    }

    /// torch's number of the dtype. toScalarType would throw for types that it does not
    /// know; those have numbers that no pattern has.
    static uint16_t number_of(const c10::TensorImpl& impl) noexcept {
        return std::bit_cast<uint16_t>(impl.dtype());
    }

    /// A function of its own, which is called last, so that the check needs no stack
    /// frame.
    [[gnu::noinline]] static bool is_wanted(const c10::AutogradMetaInterface& meta,
                                            bool wanted) noexcept {
        return meta.requires_grad() == wanted;
    }

    [[gnu::noinline]] static bool has_flags(const TensorPattern& pattern,
                                            const c10::TensorImpl& impl) noexcept {
        const uint32_t flags =
            key_flags(impl) | (requires_grad(impl) ? tensor_requires_grad : 0u);
        return !((flags ^ pattern.flags) & pattern.flags_mask);
    }

    /// torch's own numbers, which lie side by side in a tensor: one load.
    static uint64_t own_kind(uint16_t type, uint8_t device, uint8_t index,
                             unsigned rank) {
        return type | uint32_t{device} << 16 | uint32_t{index} << 24 |
               tensor_kind(0, 0, 0, rank);
    }

    static uint64_t plain_kind(uint64_t kind) noexcept {
        const auto* types = dtype_words.words;
        const auto* devices = device_words.words;
        const auto* type =
            std::find(types, types + dtype_count, static_cast<uint32_t>(kind));
        const auto* device = std::find(devices, devices + device_count,
                                       static_cast<uint8_t>(kind >> 32));
        constexpr uint64_t of_no_tensor = ~uint64_t{0};
        if (type == types + dtype_count || device == devices + device_count)
            return of_no_tensor;
        return own_kind(static_cast<uint16_t>(type - types),
                        static_cast<uint8_t>(device - devices),
                        static_cast<uint8_t>((kind >> 40) - 1),
                        static_cast<unsigned>(kind >> 48 & 0xff));
    }

    static unsigned read_sizes(const c10::TensorImpl& impl, TensorFacts& to) {
        const c10::IntArrayRef sizes = impl.sizes();
        to.sizes = sizes.data();
        return static_cast<unsigned>(sizes.size());
    }

    static uint64_t device_bits(c10::Device device) {
        return tensor_kind(0, device_words.words[static_cast<size_t>(device.type())],
                           static_cast<unsigned>(device.index() + 1), 0);
    }

    static uint32_t dtype_of(const c10::TensorImpl& impl) {
        return dtype_words.words[static_cast<size_t>(impl.dtype().toScalarType())];
    }

    static uint32_t key_flags(const c10::TensorImpl& impl) {
        return (impl.is_conj() ? tensor_conj : 0u) | (impl.is_neg() ? tensor_neg : 0u);
    }

    /// The first element, without a look at what copies on write or may throw. Null of
    /// a tensor without elements, as torch's data_ptr says.
    static const char* data_of(PyObject* value, const TensorFacts& facts) noexcept {
        const auto& impl = static_cast<const Opened&>(*impl_of(value));
        const c10::StorageImpl* storage = impl.unsafe_storage().unsafeGetStorageImpl();
        if (!storage || impl.has_custom_sizes() || impl.numel() == 0) return nullptr;
        const void* data =
            const_cast<c10::StorageImpl*>(storage)->_mutable_data_ptr_no_checks().get();
        if (!data) return nullptr;
        return static_cast<const char*>(data) + facts.storage_offset * facts.item_bytes;
    }

    static bool knows_thread() noexcept { return known_thread_state().autograd; }

    static void meet_thread() noexcept { find_thread_state(); }

    static uint64_t local_keys(uint64_t keys) noexcept {
        const c10::impl::LocalDispatchKeySet local = thread_state().local_keys();
        return (keys | local.included_.raw_repr()) & ~local.excluded_.raw_repr();
    }
};

PyMethodDef methods[] = {
    {"state_facts", state_facts, METH_NOARGS,
     "What the calling thread's torch is set to."},
    {"state_words", state_words, METH_NOARGS, "The same facts, as bytes."},
    {"state_check", state_check, METH_O,
     "A native check of some of the state's facts."},
    {"entry_key_check", entry_key_check, METH_VARARGS,
     "A native check of a thread's backend and region."},
    {"grad_check", grad_check, METH_VARARGS,
     "A native check whether a tensor has a gradient."},
    {"want_backend", want_backend, METH_O,
     "Sets the backend whose entries this thread runs."},
    {"want_region", want_region, METH_O,
     "Sets this thread's region; gives the prior one."},
    {"wanted_region", wanted_region, METH_NOARGS, "This thread's region."},
    {"compiled_call", make_compiled_call, METH_O,
     "A builtin that runs an entry, or Dynamo's wrapper."},
    {"optimized_call", make_optimized_call, METH_O,
     "A builtin that calls a module of torch.compile."},
    {"class_version", class_version, METH_O,
     "CPython's version tag of a class; 0 without one."},
    {"callback_setter", make_callback_setter, METH_O,
     "A builtin that sets None or another callback."},
    {"returning", make_returning, METH_O,
     "A builtin that gives this value to any call."},
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
