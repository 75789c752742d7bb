// torch's state (modes, flags, autocast) as four words, and a native check of them.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <c10/core/DefaultDtype.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "aten.h"
#include "native_capsule.h"
#include "ref.h"

namespace guardtree {
namespace {

/// What is the same for all tensors.
struct State {
    static constexpr size_t count = 4;
    /// Modes; other settings; where autocast is enabled; most of autocast's dtypes.
    uint64_t words[count];
};

/// One fact of the state: its place in a word.
struct Field {
    const char* name;
    int word;
    int shift;
    int bits;
};

/// Autocast is enabled where its key is not excluded: the same bit of the third word.
consteval int bit_of(c10::DispatchKey key) {
    for (int bit = 0; bit < 64; ++bit) {
        const c10::DispatchKeySet one(c10::DispatchKeySet::RAW, uint64_t{1} << bit);
        if (one.has_all(c10::DispatchKeySet(key))) return bit;
    }
    throw "the key has more than one bit";
}

using Key = c10::DispatchKey;

constexpr Field fields[] = {
    {"grad_mode", 0, 0, 1},
    {"inference_mode", 0, 1, 1},
    {"forward_grad_mode", 0, 2, 1},
    {"deterministic", 0, 3, 1},
    {"deterministic_warn_only", 0, 4, 1},
    {"deterministic_fill", 0, 5, 1},
    {"torch_function", 0, 6, 2},
    {"torch_function_modes", 0, 8, 16},
    {"default_dtype", 0, 24, 8},
    {"num_threads", 0, 32, 32},
    {"autocast_cache", 1, 0, 1},
    {"graph_hooks", 1, 9, 2},
    {"allow_fp16_reduce", 1, 2, 2},
    {"allow_bf16_reduce", 1, 4, 2},
    {"allow_tf32", 1, 6, 1},
    {"cudnn_conv_tf32", 1, 7, 1},
    {"cudnn_rnn_tf32", 1, 8, 1},
    {"cuda_matmul_precision", 1, 11, 3},
    {"autocast_cpu_dtype", 1, 16, 8},
    {"autocast_cuda_dtype", 1, 24, 8},
    {"autocast_cpu", 2, bit_of(Key::AutocastCPU), 1},
    {"autocast_cuda", 2, bit_of(Key::AutocastCUDA), 1},
    {"autocast_mtia", 2, bit_of(Key::AutocastMTIA), 1},
    {"autocast_maia", 2, bit_of(Key::AutocastMAIA), 1},
    {"autocast_xpu", 2, bit_of(Key::AutocastXPU), 1},
    {"autocast_ipu", 2, bit_of(Key::AutocastIPU), 1},
    {"autocast_hpu", 2, bit_of(Key::AutocastHPU), 1},
    {"autocast_xla", 2, bit_of(Key::AutocastXLA), 1},
    {"autocast_privateuseone", 2, bit_of(Key::AutocastPrivateUse1), 1},
    {"autocast_mps", 2, bit_of(Key::AutocastMPS), 1},
    {"autocast_mtia_dtype", 3, 0, 8},
    {"autocast_maia_dtype", 3, 8, 8},
    {"autocast_xpu_dtype", 3, 16, 8},
    {"autocast_ipu_dtype", 3, 24, 8},
    {"autocast_hpu_dtype", 3, 32, 8},
    {"autocast_xla_dtype", 3, 40, 8},
    {"autocast_privateuseone_dtype", 3, 48, 8},
    {"autocast_mps_dtype", 3, 56, 8}};

/// In the order of the dtypes in the last word.
constexpr c10::DeviceType other_devices[] = {
    c10::DeviceType::MTIA, c10::DeviceType::MAIA, c10::DeviceType::XPU,
    c10::DeviceType::IPU,  c10::DeviceType::HPU,  c10::DeviceType::XLA,
    c10::DeviceType::PrivateUse1, c10::DeviceType::MPS};

consteval Field field_of(std::string_view name) {
    for (const Field& field : fields) {
        if (name == field.name) return field;
    }
    throw "there is no such field";
}

constexpr uint64_t max_of(const Field& field) {
    return (uint64_t{1} << field.bits) - 1;
}

/// A field's value in its place, where `mask` asks for it; else it is not read.
template <class Read>
[[gnu::always_inline]] inline uint64_t put(const Field& field, uint64_t mask,
                                           const Read& read) {
    if (!(mask & max_of(field) << field.shift)) return 0;
    return static_cast<uint64_t>(read()) << field.shift;
}

/// A value that is read at no cost, whether or not anybody asks for it.
[[gnu::always_inline]] inline uint64_t put(const Field& field, uint64_t value) {
    return value << field.shift;
}

[[gnu::always_inline]] inline uint64_t modes_now(uint64_t mask,
                                                 const ThreadState& thread) {
    const at::Context& context = *aten().context;
    const auto of_context = [&](const auto& setting) -> uint64_t {
        return context.*member_of(setting);
    };
    return put(field_of("grad_mode"), thread.autograd->get_grad_mode()) |
           put(field_of("inference_mode"), thread.autograd->get_inference_mode()) |
           put(field_of("forward_grad_mode"), thread.autograd->get_fw_grad_mode()) |
           put(field_of("deterministic"), of_context(Deterministic{})) |
           put(field_of("deterministic_warn_only"),
               of_context(DeterministicWarnOnly{})) |
           put(field_of("deterministic_fill"), of_context(DeterministicFill{})) |
           put(field_of("torch_function"),
               static_cast<uint64_t>(disabled_state(*thread.torch_function))) |
           put(field_of("torch_function_modes"), mode_count(*thread.torch_function)) |
           put(field_of("default_dtype"), mask,
               [] { return c10::get_default_dtype_as_scalartype(); }) |
           put(field_of("num_threads"), mask, [&] { return thread.thread_count(); });
}

/// What torch allows CUDA's operations on float32.
[[gnu::always_inline]] inline uint64_t precisions_now() {
    const auto& [matmul, conv, rnn] = CudaPrecisions::now();
    constexpr auto tf32 = at::Float32Precision::TF32;
    return put(field_of("allow_tf32"), matmul == tf32) |
           put(field_of("cudnn_conv_tf32"), conv == tf32) |
           put(field_of("cudnn_rnn_tf32"), rnn == tf32) |
           put(field_of("cuda_matmul_precision"), static_cast<uint64_t>(matmul));
}

/// Of the hooks of saved tensors.
enum GraphHooks : uint64_t { no_graphs, two_graphs, unknown_hooks };

/// torch.fx.GraphModule, from when a state is first read or guarded. Never freed.
constinit PyTypeObject* graph_module = nullptr;

/// False with an exception when there is none.
bool find_graph_module() {
    if (graph_module) return true;
    const auto module = Owned<>::steal(PyImport_ImportModule("torch.fx"));
    if (!module) return false;
    auto type = Owned<>::steal(PyObject_GetAttrString(module.get(), "GraphModule"));
    if (type && !PyType_Check(type.get()))
        PyErr_SetString(PyExc_TypeError, "torch.fx.GraphModule is not a type");
    else if (type)
        graph_module = reinterpret_cast<PyTypeObject*>(type.release());
    return graph_module != nullptr;
}

/// isinstance(hook, GraphModule), without the code of a hook that says itself what its
/// class is: of that one nothing is known.
GraphHooks graph_of(PyObject* hook) {
    PyTypeObject* const type = Py_TYPE(hook);
    if (PyType_IsSubtype(type, graph_module)) return two_graphs;
    static PyObject* const name = PyUnicode_InternFromString("__class__");
    const bool is_plain = type->tp_getattro == PyObject_GenericGetAttr && name &&
                          _PyType_Lookup(type, name) ==
                              _PyType_Lookup(&PyBaseObject_Type, name);
    return is_plain ? no_graphs : unknown_hooks;
}

[[gnu::cold, gnu::noinline]] GraphHooks graph_hooks_on_top() {
    const auto hooks = aten().top_hooks(true);
    if (!hooks) return no_graphs;
    GraphHooks found = two_graphs;
    for (const auto* hook : {&hooks->first, &hooks->second}) {
        found = graph_of(hook->ptr(&hook->pyinterpreter()));
        if (found != two_graphs) break;
    }
    return found;
}

/// Whether the hooks of saved tensors are two graphs: those Dynamo makes a part of what
/// it compiles.
[[gnu::always_inline]] inline GraphHooks graph_hooks_now(const ThreadState& thread) {
    return thread.saved_tensor_hooks->stack.empty() ? no_graphs : graph_hooks_on_top();
}

[[gnu::always_inline]] inline uint64_t settings_now(uint64_t mask,
                                                    const ThreadState& thread) {
    const Aten& at = aten();
    const at::Context& context = *at.context;
    const auto of_context = [&](const auto& setting) {
        return static_cast<uint64_t>(context.*member_of(setting));
    };
    return put(field_of("autocast_cache"), mask,
               [&] { return at.is_autocast_cache_enabled(); }) |
           put(field_of("graph_hooks"), mask, [&] { return graph_hooks_now(thread); }) |
           put(field_of("allow_fp16_reduce"), of_context(Fp16Reduction{})) |
           put(field_of("allow_bf16_reduce"), of_context(Bf16Reduction{})) |
           precisions_now() |
           put(field_of("autocast_cpu_dtype"), mask,
               [&] { return at.autocast_dtype(c10::DeviceType::CPU); }) |
           put(field_of("autocast_cuda_dtype"), mask,
               [&] { return at.autocast_dtype(c10::DeviceType::CUDA); });
}

uint64_t autocast_now(const ThreadState& thread) {
    return ~thread.local_keys().excluded_.raw_repr();
}

uint64_t other_dtypes_now(uint64_t mask) {
    uint64_t word = 0;
    int shift = 0;
    for (const c10::DeviceType device : other_devices) {
        word |= put({"", 3, shift, 8}, mask,
                    [&] { return aten().autocast_dtype(device); });
        shift += 8;
    }
    return word;
}

/// A word of the state. Facts that `mask` does not ask for are not read, where that
/// takes time.
template <size_t word>
[[gnu::always_inline]] inline uint64_t word_now(uint64_t mask,
                                                const ThreadState& thread) {
    if constexpr (word == 0) return modes_now(mask, thread);
    if constexpr (word == 1) return settings_now(mask, thread);
    if constexpr (word == 2) return mask ? autocast_now(thread) : 0;
    if constexpr (word == 3) return mask ? other_dtypes_now(mask) : 0;
}

State state_now(const State& mask) {
    const ThreadState& thread = thread_state();
    return {{word_now<0>(mask.words[0], thread), word_now<1>(mask.words[1], thread),
             word_now<2>(mask.words[2], thread), word_now<3>(mask.words[3], thread)}};
}

constexpr State all_facts{{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}}};

uint64_t value_of(const State& state, const Field& field) {
    return state.words[field.word] >> field.shift & max_of(field);
}

/// What a state capsule checks, in its context.
struct StatePattern {
    State state;
    State mask;
};

template <size_t word>
[[gnu::always_inline]] inline bool has_word(const StatePattern& pattern,
                                            const ThreadState& thread) {
    const uint64_t mask = pattern.mask.words[word];
    return !((word_now<word>(mask, thread) ^ pattern.state.words[word]) & mask);
}

/// guardtree.native_pure: the value says nothing. Each word is compared in a register:
/// words that are stored, and then loaded two at a time, wait for the stores.
int check_state(PyObject*, void* context) {
    const auto& pattern = *static_cast<const StatePattern*>(context);
    const ThreadState& thread = thread_state();
    return has_word<0>(pattern, thread) && has_word<1>(pattern, thread) &&
           has_word<2>(pattern, thread) && has_word<3>(pattern, thread);
}

std::string text_of(const Field& field, uint64_t value) {
    if (field.bits == 1) return value ? "True" : "False";
    return std::to_string(value);
}

/// "grad_mode=False (expected True), ...": the facts that differ.
PyObject* found_state(PyObject*, void* context) {
    const auto& pattern = *static_cast<const StatePattern*>(context);
    const State now = state_now(pattern.mask);
    std::string text;
    for (const Field& field : fields) {
        if (!value_of(pattern.mask, field)) continue;
        const uint64_t found = value_of(now, field);
        const uint64_t expected = value_of(pattern.state, field);
        if (found == expected) continue;
        text += (text.empty() ? "" : ", ") + std::string(field.name) + "=" +
                text_of(field, found) + " (expected " + text_of(field, expected) + ")";
    }
    if (text.empty()) text = "the expected state by now";
    return PyUnicode_FromStringAndSize(text.data(),
                                       static_cast<Py_ssize_t>(text.size()));
}

PyObject* state_facts(PyObject*, PyObject*) {
    if (!find_graph_module()) return nullptr;
    const State now = state_now(all_facts);
    auto facts = Owned<>::steal(PyDict_New());
    for (const Field& field : fields) {
        const uint64_t value = value_of(now, field);
        const auto number =
            Owned<>::steal(field.bits == 1 ? PyBool_FromLong(static_cast<long>(value))
                                           : PyLong_FromUnsignedLongLong(value));
        if (!facts || !number ||
            PyDict_SetItemString(facts.get(), field.name, number.get()) != 0) {
            return nullptr;
        }
    }
    return facts.release();
}

/// state_words() -> bytes, which differ where a fact of the state does.
PyObject* state_words(PyObject*, PyObject*) {
    if (!find_graph_module()) return nullptr;
    const State now = state_now(all_facts);
    return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(now.words),
                                     sizeof now.words);
}

bool add_fact(PyObject* name, PyObject* value, StatePattern& to) {
    for (const Field& field : fields) {
        if (PyUnicode_CompareWithASCIIString(name, field.name) != 0) continue;
        const unsigned long long number = PyLong_AsUnsignedLongLong(value);
        if (PyErr_Occurred()) return false;
        const uint64_t most = max_of(field);
        if (number > most) {
            PyErr_Format(PyExc_ValueError, "%U: expected 0 to %llu, found %llu", name,
                         static_cast<unsigned long long>(most), number);
            return false;
        }
        to.state.words[field.word] |= number << field.shift;
        to.mask.words[field.word] |= most << field.shift;
        return true;
    }
    PyErr_Format(PyExc_TypeError, "there is no such state: %R", name);
    return false;
}

/// state_check(facts) -> a capsule for GuardManager.native_pure.
PyObject* state_check(PyObject*, PyObject* facts) {
    if (!PyDict_Check(facts)) {
        return PyErr_Format(PyExc_TypeError, "expected a dict, found %R", facts);
    }
    if (!find_graph_module()) return nullptr;
    StatePattern pattern{};
    PyObject* name = nullptr;
    PyObject* value = nullptr;
    for (Py_ssize_t i = 0; PyDict_Next(facts, &i, &name, &value);) {
        if (!add_fact(name, value, pattern)) return nullptr;
    }
    static NativeFound functions{reinterpret_cast<void*>(&check_state), &found_state};
    return native_pure_capsule(functions, pattern);
}

}  // namespace
}  // namespace guardtree
