// Functions of ATen, found by name, and what it keeps for each thread.
// SPDX-License-Identifier: MIT
//
// ATen is in libtorch_cpu: its functions are found when the module loads, in the
// library that torch has loaded by then, so that nothing but libc10 is linked.
#pragma once
#include <Python.h>

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include <ATen/Config.h>
#include <ATen/Context.h>
#include <ATen/PythonTorchFunctionTLS.h>
#include <ATen/SavedTensorHooks.h>
#include <c10/core/AutogradState.h>
#include <c10/core/DeviceType.h>
#include <c10/core/SafePyObject.h>
#include <c10/core/ScalarType.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <dlfcn.h>

#include "compiler.h"

namespace guardtree {
namespace {

using SavedTensorHooks = std::pair<c10::SafePyObject, c10::SafePyObject>;

using ThreadCount = int (*)();

/// Functions of ATen by their C++ names, as the linker knows them.
struct Aten {
    const at::Context* context = nullptr;
    ThreadCount thread_count = nullptr;
    /// OpenMP's own number, as libtorch_cpu finds it. Null where torch does not use it.
    ThreadCount openmp_threads = nullptr;
    const at::impl::PythonTorchFunctionTLS& (*torch_function)();
    const at::impl::SavedTensorDefaultHooksTLS& (*saved_tensor_hooks)();
    std::optional<SavedTensorHooks> (*top_hooks)(bool ignore_is_tracing);
    bool (*is_autocast_cache_enabled)();
    c10::ScalarType (*autocast_dtype)(c10::DeviceType);
    at::Float32Precision (*float32_precision)(const at::Context*, at::Float32Backend,
                                              at::Float32Op);

    /// False with an ImportError when one is not there.
    bool resolve() {
        at::Context& (*global_context)() = nullptr;
        void* library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
        const bool found =
            find(library, "_ZN2at13globalContextEv", global_context) &&
            find(library, "_ZN2at15get_num_threadsEv", thread_count) &&
            find(library, "_ZN2at4impl22PythonTorchFunctionTLS9get_stateEv",
                 torch_function) &&
            find(library, "_ZN2at23SavedTensorDefaultHooks13get_tls_stateEv",
                 saved_tensor_hooks) &&
            find(library, "_ZN2at23SavedTensorDefaultHooks9get_hooksEb", top_hooks) &&
            find(library, "_ZN2at8autocast25is_autocast_cache_enabledEv",
                 is_autocast_cache_enabled) &&
            find(library, "_ZN2at8autocast18get_autocast_dtypeEN3c1010DeviceTypeE",
                 autocast_dtype) &&
            find(library,
                 "_ZNK2at7Context16float32PrecisionENS_14Float32BackendENS_9Float32OpE",
                 float32_precision);
        if (found && AT_PARALLEL_OPENMP) find_openmp(library);
        if (library) dlclose(library);  // torch keeps it
        if (found) context = &global_context();
        return found;
    }

private:
    /// In the order of the dynamic linker: what the process has for everybody goes
    /// before the library that torch brings.
    void find_openmp(void* library) {
        constexpr const char* name = "omp_get_max_threads";
        void* found = dlsym(RTLD_DEFAULT, name);
        if (!found) found = dlsym(library, name);
        openmp_threads = reinterpret_cast<ThreadCount>(found);
    }

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
    static constinit Aten functions{};
    return functions;
}

/// Opens what PythonTorchFunctionTLS keeps private: its functions ask the thread's own
/// one, each anew.
template <auto state, auto stack>
struct OpenTorchFunction {
    friend int disabled_state(const at::impl::PythonTorchFunctionTLS& of) {
        return of.*state;
    }

    friend uint64_t mode_count(const at::impl::PythonTorchFunctionTLS& of) {
        return (of.*stack).size();
    }
};

int disabled_state(const at::impl::PythonTorchFunctionTLS& of);
uint64_t mode_count(const at::impl::PythonTorchFunctionTLS& of);
template struct OpenTorchFunction<&at::impl::PythonTorchFunctionTLS::disabled_state_,
                                  &at::impl::PythonTorchFunctionTLS::stack_>;

/// Opens settings that Context keeps private. Its functions only return them, and take
/// 1 to 2 ns each.
template <class Setting, typename Setting::Member member>
struct OpenSetting {
    friend constexpr auto member_of(Setting) noexcept { return member; }
};

template <class T, int number>
struct Setting {
    using Member = T at::Context::*;
    friend constexpr auto member_of(Setting) noexcept;
};

using Deterministic = Setting<bool, 0>;
using DeterministicWarnOnly = Setting<bool, 1>;
using DeterministicFill = Setting<bool, 2>;
using Fp16Reduction = Setting<at::CuBLASReductionOption, 0>;
using Bf16Reduction = Setting<at::CuBLASReductionOption, 1>;
template struct OpenSetting<Deterministic, &at::Context::_deterministic_algorithms>;
template struct OpenSetting<DeterministicWarnOnly,
                            &at::Context::_deterministic_algorithms_warn_only>;
template struct OpenSetting<DeterministicFill,
                            &at::Context::_deterministic_fill_uninitialized_memory>;
template struct OpenSetting<Fp16Reduction, &at::Context::allow_fp16_reduction_cublas>;
template struct OpenSetting<Bf16Reduction, &at::Context::allow_bf16_reduction_cublas>;

/// Opens Context's precisions, which it keeps private.
using Float32Key = std::pair<at::Float32Backend, at::Float32Op>;
using Float32Precisions =
    std::unordered_map<Float32Key, at::Float32Precision, c10::hash<Float32Key>>;

template <auto precisions>
struct OpenContext {
    friend const Float32Precisions& float32_precisions(const at::Context& of) {
        return of.*precisions;
    }
};

const Float32Precisions& float32_precisions(const at::Context& of);
template struct OpenContext<&at::Context::fp32_precision>;

/// Used where ATen raises because its settings contradict each other.
constexpr at::Float32Precision no_precision = static_cast<at::Float32Precision>(7);

/// The precisions of CUDA's operations. ATen's answers, and the settings that they were
/// about: it looks up to three of them up for each answer.
class CudaPrecisions {
public:
    using Answers = std::array<at::Float32Precision, 3>;

    /// Of MATMUL, CONV and RNN.
    static const Answers& now() noexcept {
        static CudaPrecisions known;
        bool is_known = true;
        for (size_t i = 0; i < count; ++i)
            is_known &= *known.settings_[i] == known.seen_[i];
        if (!is_known) [[unlikely]]
            known.ask();
        return known.answers_;
    }

private:
    CudaPrecisions() noexcept {
        using enum at::Float32Backend;
        using enum at::Float32Op;
        const auto& settings = float32_precisions(*aten().context);
        constexpr Float32Key keys[count] = {
            {CUDA, MATMUL}, {CUDA, CONV}, {CUDA, RNN}, {CUDA, ALL}, {GENERIC, ALL}};
        for (size_t i = 0; i < count; ++i) {
            const auto found = settings.find(keys[i]);
            settings_[i] = found == settings.end() ? &no_precision : &found->second;
        }
        ask();
    }

    void ask() noexcept {
        using enum at::Float32Op;
        for (size_t i = 0; i < count; ++i) seen_[i] = *settings_[i];
        answers_ = {answer_of(MATMUL), answer_of(CONV), answer_of(RNN)};
    }

    static at::Float32Precision answer_of(at::Float32Op op) noexcept {
        constexpr auto cuda = at::Float32Backend::CUDA;
        try {
            return aten().float32_precision(aten().context, cuda, op);
        } catch (...) {
            return no_precision;
        }
    }

    static constexpr size_t count = 5;
    const at::Float32Precision* settings_[count];
    at::Float32Precision seen_[count];
    Answers answers_;
};

/// Where a thread's own state lies, as long as the thread lives.
struct ThreadState {
    const c10::AutogradState* autograd;
    const at::impl::PythonTorchFunctionTLS* torch_function;
    const at::impl::SavedTensorDefaultHooksTLS* saved_tensor_hooks;
    const c10::impl::PODLocalDispatchKeySet* keys;
    ThreadCount thread_count;

    /// Those that the thread includes, and those that it excludes.
    c10::impl::LocalDispatchKeySet local_keys() const { return *keys; }
};

/// What tells the calling thread's number of threads from now on. at::get_num_threads
/// sets OpenMP up when a thread first asks, and then returns what OpenMP says
/// (ParallelOpenMP.cpp, torch 2.13 to 2.15). To call OpenMP saves a small tree 8 % of
/// its time.
inline ThreadCount thread_count_of_thread() {
    const Aten& at = aten();
    const int known = at.thread_count();
    const bool is_openmp = at.openmp_threads && at.openmp_threads() == known;
    return is_openmp ? at.openmp_threads : at.thread_count;
}

/// The calling thread's, empty at first. torch's own functions take several ns each,
/// and so does a thread_local of another library.
inline ThreadState& known_thread_state() {
    static constinit thread_local ThreadState known GUARDTREE_NEAR_THREAD_LOCAL{};
    return known;
}

[[gnu::cold, gnu::noinline]] inline void find_thread_state() {
    known_thread_state() = {&c10::AutogradState::get_tls_state(),
                            &aten().torch_function(), &aten().saved_tensor_hooks(),
                            &c10::impl::raw_local_dispatch_key_set,
                            thread_count_of_thread()};
}

inline const ThreadState& thread_state() {
    if (!known_thread_state().autograd) [[unlikely]]
        find_thread_state();
    return known_thread_state();
}

}  // namespace
}  // namespace guardtree
