// torch's state (modes, flags, autocast) as three words, and a native check of them.
// SPDX-License-Identifier: MIT
//
// What is not c10's is ATen's, in libtorch_cpu: found by name when the module loads, in
// the library that torch has loaded by then, so that nothing but libc10 is linked.
#pragma once
#include <Python.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <c10/core/AutogradState.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/DeviceType.h>
#include <dlfcn.h>

#include "native_found.h"
#include "ref.h"

namespace guardtree {
namespace {

struct AtenContext;  // at::Context

/// Functions of ATen by their C++ names, as the linker knows them.
struct Aten {
    AtenContext& (*context)();
    bool (*deterministic)(const AtenContext*);
    bool (*deterministic_warn_only)(const AtenContext*);
    bool (*deterministic_fill)(const AtenContext*);
    int (*thread_count)();
    int (*torch_function_state)();  // an enum
    int64_t (*torch_function_modes)();
    bool (*is_autocast_enabled)(c10::DeviceType);
    bool (*is_autocast_cache_enabled)();
    c10::ScalarType (*autocast_dtype)(c10::DeviceType);
    int (*float32_precision)(const AtenContext*, int backend, int op);  // enums
    uint8_t (*fp16_reduction)(const AtenContext*);  // enums
    uint8_t (*bf16_reduction)(const AtenContext*);

    /// False with an ImportError when one is not there.
    bool resolve() {
        void* library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
        const bool found =
            find(library, "_ZN2at13globalContextEv", context) &&
            find(library, "_ZNK2at7Context23deterministicAlgorithmsEv",
                 deterministic) &&
            find(library, "_ZNK2at7Context31deterministicAlgorithmsWarnOnlyEv",
                 deterministic_warn_only) &&
            find(library, "_ZNK2at7Context36deterministicFillUninitializedMemoryEv",
                 deterministic_fill) &&
            find(library, "_ZN2at15get_num_threadsEv", thread_count) &&
            find(library, "_ZN2at4impl22PythonTorchFunctionTLS18get_disabled_stateEv",
                 torch_function_state) &&
            find(library, "_ZN2at4impl22PythonTorchFunctionTLS9stack_lenEv",
                 torch_function_modes) &&
            find(library, "_ZN2at8autocast19is_autocast_enabledEN3c1010DeviceTypeE",
                 is_autocast_enabled) &&
            find(library, "_ZN2at8autocast25is_autocast_cache_enabledEv",
                 is_autocast_cache_enabled) &&
            find(library, "_ZN2at8autocast18get_autocast_dtypeEN3c1010DeviceTypeE",
                 autocast_dtype) &&
            find(library,
                 "_ZNK2at7Context16float32PrecisionENS_14Float32BackendENS_9Float32OpE",
                 float32_precision) &&
            find(library, "_ZNK2at7Context24allowFP16ReductionCuBLASEv",
                 fp16_reduction) &&
            find(library, "_ZNK2at7Context24allowBF16ReductionCuBLASEv",
                 bf16_reduction);
        if (library) dlclose(library);  // torch keeps it
        return found;
    }

private:
    template <class Function>
    static bool find(void* library, const char* name, Function& to) {
        to = library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
        if (to) return true;
        PyErr_Format(PyExc_ImportError,
                     library ? "libtorch_cpu has no %s" : "libtorch_cpu is not loaded",
                     name);
        return false;
    }
};

Aten& aten() {
    static Aten functions;
    return functions;
}

/// What is the same for all tensors.
struct State {
    static constexpr size_t count = 3;
    uint64_t words[count];  ///< modes; autocast and precision; autocast's other dtypes
};

/// One fact of the state: its place in a word.
struct Field {
    const char* name;
    int word;
    int shift;
    int bits;
};

constexpr Field fields[] = {{"grad_mode", 0, 0, 1},
                            {"inference_mode", 0, 1, 1},
                            {"forward_grad_mode", 0, 2, 1},
                            {"deterministic", 0, 3, 1},
                            {"deterministic_warn_only", 0, 4, 1},
                            {"deterministic_fill", 0, 5, 1},
                            {"torch_function", 0, 6, 2},
                            {"torch_function_modes", 0, 8, 16},
                            {"default_dtype", 0, 24, 8},
                            {"num_threads", 0, 32, 32},
                            {"autocast_cpu", 1, 0, 1},
                            {"autocast_cuda", 1, 1, 1},
                            {"autocast_cache", 1, 2, 1},
                            {"autocast_cpu_dtype", 1, 8, 8},
                            {"autocast_cuda_dtype", 1, 16, 8},
                            {"allow_fp16_reduce", 1, 24, 2},
                            {"allow_bf16_reduce", 1, 26, 2},
                            {"allow_tf32", 1, 28, 1},
                            {"cudnn_conv_tf32", 1, 29, 1},
                            {"cudnn_rnn_tf32", 1, 30, 1},
                            {"autocast_mtia", 1, 40, 1},
                            {"autocast_maia", 1, 41, 1},
                            {"autocast_xpu", 1, 42, 1},
                            {"autocast_ipu", 1, 43, 1},
                            {"autocast_hpu", 1, 44, 1},
                            {"autocast_xla", 1, 45, 1},
                            {"autocast_privateuseone", 1, 46, 1},
                            {"autocast_mps", 1, 47, 1},
                            {"autocast_mtia_dtype", 2, 0, 8},
                            {"autocast_maia_dtype", 2, 8, 8},
                            {"autocast_xpu_dtype", 2, 16, 8},
                            {"autocast_ipu_dtype", 2, 24, 8},
                            {"autocast_hpu_dtype", 2, 32, 8},
                            {"autocast_xla_dtype", 2, 40, 8},
                            {"autocast_privateuseone_dtype", 2, 48, 8},
                            {"autocast_mps_dtype", 2, 56, 8}};

/// In the order of their fields.
constexpr c10::DeviceType other_devices[] = {
    c10::DeviceType::MTIA, c10::DeviceType::MAIA, c10::DeviceType::XPU,
    c10::DeviceType::IPU,  c10::DeviceType::HPU,  c10::DeviceType::XLA,
    c10::DeviceType::PrivateUse1, c10::DeviceType::MPS};

consteval int shift_of(std::string_view name) {
    for (const Field& field : fields) {
        if (name == field.name) return field.shift;
    }
    throw "there is no such field";
}

template <int shift>
uint64_t put(uint64_t value) {
    return value << shift;
}

uint64_t number(c10::ScalarType type) {
    return static_cast<uint64_t>(type);
}

uint64_t modes_now() {
    const auto& autograd = c10::AutogradState::get_tls_state();
    const Aten& at = aten();
    const AtenContext* context = &at.context();
    return put<shift_of("grad_mode")>(autograd.get_grad_mode()) |
           put<shift_of("inference_mode")>(autograd.get_inference_mode()) |
           put<shift_of("forward_grad_mode")>(autograd.get_fw_grad_mode()) |
           put<shift_of("deterministic")>(at.deterministic(context)) |
           put<shift_of("deterministic_warn_only")>(
               at.deterministic_warn_only(context)) |
           put<shift_of("deterministic_fill")>(at.deterministic_fill(context)) |
           put<shift_of("torch_function")>(
               static_cast<uint64_t>(at.torch_function_state())) |
           put<shift_of("torch_function_modes")>(
               static_cast<uint64_t>(at.torch_function_modes())) |
           put<shift_of("default_dtype")>(
               number(c10::get_default_dtype_as_scalartype())) |
           put<shift_of("num_threads")>(static_cast<uint64_t>(at.thread_count()));
}

/// Whether CUDA's operations of a Float32Op use TF32, which is false where nothing is
/// set and, as ATen then raises, where its settings contradict each other.
bool allows_tf32(int op) noexcept {
    constexpr int cuda = 1, tf32 = 2;  // Float32Backend, Float32Precision
    try {
        return aten().float32_precision(&aten().context(), cuda, op) == tf32;
    } catch (...) {
        return false;
    }
}

/// Only what `mask` asks for is read.
uint64_t autocast_now(uint64_t mask) {
    const Aten& at = aten();
    const AtenContext* context = &at.context();
    constexpr int conv = 1, rnn = 2, matmul = 3;  // Float32Op
    constexpr int others = shift_of("autocast_mtia");
    constexpr int precisions = shift_of("allow_fp16_reduce");
    uint64_t word =
        put<shift_of("autocast_cpu")>(at.is_autocast_enabled(c10::DeviceType::CPU)) |
        put<shift_of("autocast_cuda")>(at.is_autocast_enabled(c10::DeviceType::CUDA)) |
        put<shift_of("autocast_cache")>(at.is_autocast_cache_enabled()) |
        put<shift_of("autocast_cpu_dtype")>(
            number(at.autocast_dtype(c10::DeviceType::CPU))) |
        put<shift_of("autocast_cuda_dtype")>(
            number(at.autocast_dtype(c10::DeviceType::CUDA)));
    if (mask >> precisions) {
        word |= put<shift_of("allow_fp16_reduce")>(at.fp16_reduction(context)) |
                put<shift_of("allow_bf16_reduce")>(at.bf16_reduction(context)) |
                put<shift_of("allow_tf32")>(allows_tf32(matmul)) |
                put<shift_of("cudnn_conv_tf32")>(allows_tf32(conv)) |
                put<shift_of("cudnn_rnn_tf32")>(allows_tf32(rnn));
    }
    if (mask >> others) {
        int shift = others;
        for (const c10::DeviceType device : other_devices)
            word |= uint64_t{at.is_autocast_enabled(device)} << shift++;
    }
    return word;
}

uint64_t other_dtypes_now() {
    uint64_t word = 0;
    int shift = 0;
    for (const c10::DeviceType device : other_devices) {
        word |= number(aten().autocast_dtype(device)) << shift;
        shift += 8;
    }
    return word;
}

/// Words of which `mask` asks for nothing are not read.
State state_now(const State& mask) {
    return {{mask.words[0] ? modes_now() : 0,
             mask.words[1] ? autocast_now(mask.words[1]) : 0,
             mask.words[2] ? other_dtypes_now() : 0}};
}

constexpr State all_facts{{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}}};

uint64_t most_of(const Field& field) {
    return (uint64_t{1} << field.bits) - 1;
}

uint64_t value_of(const State& state, const Field& field) {
    return state.words[field.word] >> field.shift & most_of(field);
}

/// What a state capsule checks, in its context.
struct StatePattern {
    State state;
    State mask;
};

/// guardtree.native_check: the value says nothing.
int check_state(PyObject*, void* context) {
    const auto& pattern = *static_cast<const StatePattern*>(context);
    const State now = state_now(pattern.mask);
    uint64_t differs = 0;
    for (size_t i = 0; i < State::count; ++i)
        differs |= (now.words[i] ^ pattern.state.words[i]) & pattern.mask.words[i];
    return !differs;
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

bool add_fact(PyObject* name, PyObject* value, StatePattern& to) {
    for (const Field& field : fields) {
        if (PyUnicode_CompareWithASCIIString(name, field.name) != 0) continue;
        const unsigned long long number = PyLong_AsUnsignedLongLong(value);
        if (PyErr_Occurred()) return false;
        const uint64_t most = most_of(field);
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

/// state_check(facts) -> a capsule for GuardManager.native.
PyObject* state_check(PyObject*, PyObject* facts) {
    if (!PyDict_Check(facts)) {
        return PyErr_Format(PyExc_TypeError, "expected a dict, found %R", facts);
    }
    StatePattern pattern{};
    PyObject* name = nullptr;
    PyObject* value = nullptr;
    for (Py_ssize_t i = 0; PyDict_Next(facts, &i, &name, &value);) {
        if (!add_fact(name, value, pattern)) return nullptr;
    }
    static NativeFound functions{reinterpret_cast<void*>(&check_state), &found_state};
    PyObject* capsule =
        PyCapsule_New(&functions, native_check_found, [](PyObject* self) {
                          delete static_cast<StatePattern*>(PyCapsule_GetContext(self));
                      });
    if (capsule) PyCapsule_SetContext(capsule, new StatePattern(pattern));
    return capsule;
}

}  // namespace
}  // namespace guardtree
