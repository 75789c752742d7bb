// torch's state (modes, flags, autocast) as two words, and a native check of them.
// SPDX-License-Identifier: MIT
//
// What is not c10's is ATen's, in libtorch_cpu: found by name when the module loads, in
// the library that torch has loaded by then, so that nothing but libc10 is linked.
#pragma once
#include <Python.h>

#include <cstdint>
#include <string_view>

#include <c10/core/AutogradState.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/DeviceType.h>
#include <dlfcn.h>

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
                 autocast_dtype);
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

/// What is the same for all tensors, in two words.
struct State {
    uint64_t modes;     ///< flags and small numbers
    uint64_t autocast;  ///< enabled and dtype, a byte and a bit for each device
};

/// One fact of the state: its place in a word. `is_autocast`: in the second one.
struct Field {
    const char* name;
    bool is_autocast;
    int shift;
    int bits;
};

constexpr Field fields[] = {{"grad_mode", false, 0, 1},
                            {"inference_mode", false, 1, 1},
                            {"forward_grad_mode", false, 2, 1},
                            {"deterministic", false, 3, 1},
                            {"deterministic_warn_only", false, 4, 1},
                            {"deterministic_fill", false, 5, 1},
                            {"torch_function", false, 6, 2},
                            {"torch_function_modes", false, 8, 16},
                            {"default_dtype", false, 24, 8},
                            {"num_threads", false, 32, 32},
                            {"autocast_cpu", true, 0, 1},
                            {"autocast_cuda", true, 1, 1},
                            {"autocast_cache", true, 2, 1},
                            {"autocast_cpu_dtype", true, 8, 8},
                            {"autocast_cuda_dtype", true, 16, 8}};

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

State state_now() {
    const auto& autograd = c10::AutogradState::get_tls_state();
    const Aten& at = aten();
    const AtenContext* context = &at.context();
    const auto number = [](c10::ScalarType type) {
        return static_cast<uint64_t>(type);
    };
    State state{};
    state.modes =
        put<shift_of("grad_mode")>(autograd.get_grad_mode()) |
        put<shift_of("inference_mode")>(autograd.get_inference_mode()) |
        put<shift_of("forward_grad_mode")>(autograd.get_fw_grad_mode()) |
        put<shift_of("deterministic")>(at.deterministic(context)) |
        put<shift_of("deterministic_warn_only")>(at.deterministic_warn_only(context)) |
        put<shift_of("deterministic_fill")>(at.deterministic_fill(context)) |
        put<shift_of("torch_function")>(
            static_cast<uint64_t>(at.torch_function_state())) |
        put<shift_of("torch_function_modes")>(
            static_cast<uint64_t>(at.torch_function_modes())) |
        put<shift_of("default_dtype")>(number(c10::get_default_dtype_as_scalartype())) |
        put<shift_of("num_threads")>(static_cast<uint64_t>(at.thread_count()));
    state.autocast =
        put<shift_of("autocast_cpu")>(at.is_autocast_enabled(c10::DeviceType::CPU)) |
        put<shift_of("autocast_cuda")>(at.is_autocast_enabled(c10::DeviceType::CUDA)) |
        put<shift_of("autocast_cache")>(at.is_autocast_cache_enabled()) |
        put<shift_of("autocast_cpu_dtype")>(
            number(at.autocast_dtype(c10::DeviceType::CPU))) |
        put<shift_of("autocast_cuda_dtype")>(
            number(at.autocast_dtype(c10::DeviceType::CUDA)));
    return state;
}

/// What a state capsule checks, in its context.
struct StatePattern {
    State state;
    State mask;
};

/// guardtree.native_check: the value says nothing.
int check_state(PyObject*, void* context) {
    const auto& pattern = *static_cast<const StatePattern*>(context);
    const State now = state_now();
    return !(((now.modes ^ pattern.state.modes) & pattern.mask.modes) |
             ((now.autocast ^ pattern.state.autocast) & pattern.mask.autocast));
}

PyObject* state_facts(PyObject*, PyObject*) {
    const State now = state_now();
    auto facts = Owned<>::steal(PyDict_New());
    for (const Field& field : fields) {
        const uint64_t word = field.is_autocast ? now.autocast : now.modes;
        const uint64_t value = word >> field.shift & ((uint64_t{1} << field.bits) - 1);
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
        const uint64_t most = (uint64_t{1} << field.bits) - 1;
        if (number > most) {
            PyErr_Format(PyExc_ValueError, "%U: expected 0 to %llu, found %llu", name,
                         static_cast<unsigned long long>(most), number);
            return false;
        }
        (field.is_autocast ? to.state.autocast : to.state.modes) |= number
                                                                    << field.shift;
        (field.is_autocast ? to.mask.autocast : to.mask.modes) |= most << field.shift;
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
    PyObject* capsule =
        PyCapsule_New(reinterpret_cast<void*>(&check_state), "guardtree.native_check",
                      [](PyObject* self) {
                          delete static_cast<StatePattern*>(PyCapsule_GetContext(self));
                      });
    if (capsule) PyCapsule_SetContext(capsule, new StatePattern(pattern));
    return capsule;
}

}  // namespace
}  // namespace guardtree
