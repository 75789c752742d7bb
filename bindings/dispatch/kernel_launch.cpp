// What guardtree.triton calls for each launch: `kernel[grid]`, and the payload of an
// entry, which launches one kernel.
// SPDX-License-Identifier: MIT
//
// How it works. Both are callables with a tuple of parts, which the Python package
// fills. The payload does what the last lines of Triton's run method do. Guards have
// decided what these lines read from dicts: the driver, its methods, the hooks. What is
// left to read may change at each launch. A launch on another device, or after the
// device's kernels were cleared, is left to a payload in Python (`general`), before
// anything has happened.
#include <Python.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <structmember.h>

#include "../../framelocals/attributes.h"
#include "../../framelocals/compiler.h"
#include "../../guards/objects/instance_attribute.h"
#include "../bindings.h"
#include "../function.h"

namespace guardtree {
namespace {

/// What a payload knows of its kernel.
struct Launched {
    unsigned int type_version;  ///< of the kernel's class; 0: unknown
    uint16_t places[2];         ///< where it stores its two attributes (Remembered)
};

struct Native {
    PyObject base;
    vectorcallfunc vectorcall;
    PyObject* parts;  ///< a tuple; null once the collector has emptied it
    Py_ssize_t limit;
    Launched known;
    PyObject* last_grid;  ///< a tuple of ints that was asked for last, or null
    PyObject* last_made;  ///< and the answer

    static Native* of(PyObject* self) noexcept {
        return reinterpret_cast<Native*>(self);
    }
};

PyTypeObject* native_type = nullptr;

HashedKey name_of_function;
HashedKey name_of_packed;
HashedKey name_of_metadata;

/// The parts of a payload, in their order.
enum Part : Py_ssize_t {
    get_device,  ///< the driver's get_current_device
    get_stream,  ///< and get_current_stream
    caches,      ///< the kernel's device_caches
    cache,       ///< the one that holds `compiled`
    enter_hook,  ///< knobs.runtime.launch_enter_hook
    exit_hook,
    enter_calls,  ///< the list of a HookChain; None for other hooks
    exit_calls,
    compiled,
    run,           ///< the launcher
    own_metadata,  ///< CompiledKernel.launch_metadata
    parameters,    ///< the names of the kernel's parameters: a tuple
    general,       ///< the payload in Python
    part_count
};

PyObject* part_of(PyObject* parts, Py_ssize_t index) noexcept {
    return PyTuple_GET_ITEM(parts, index);
}

bool is_idle(PyObject* hook, PyObject* calls) noexcept {
    return hook == Py_None || (PyList_CheckExact(calls) && !PyList_GET_SIZE(calls));
}

/// Whether Triton would make metadata that nobody sees: only hooks get it, and there is
/// none. For a kernel whose class has Triton's own launch_metadata.
bool is_unseen(PyObject* parts) noexcept {
    return is_idle(part_of(parts, enter_hook), part_of(parts, enter_calls)) &&
           is_idle(part_of(parts, exit_hook), part_of(parts, exit_calls)) &&
           presence_in_instance(part_of(parts, compiled), name_of_metadata) ==
               Presence::absent;
}

/// The version of the class of a kernel, or 0 where that is not like Triton's: own
/// launch_metadata, and no attribute that hides those of an instance. Versions are
/// unique, and any change of a class takes its version away.
unsigned int own_type_version(PyObject* parts) noexcept {
    PyObject* const kernel = part_of(parts, compiled);
    PyObject* const type = as_object(Py_TYPE(kernel));
    const auto metadata = find_attribute(type, name_of_metadata.value);
    bool is_own = metadata && metadata.get() == part_of(parts, own_metadata);
    for (PyObject* name : {name_of_function.value, name_of_packed.value})
        is_own = is_own && !find_attribute(type, name) && !PyErr_Occurred();
    PyErr_Clear();
    return is_own ? Py_TYPE(kernel)->tp_version_tag : 0;
}

/// `is_own`: the kernel's own dict comes first.
Owned<> attribute(PyObject* kernel, const HashedKey& name, bool is_own,
                  uint16_t& place) noexcept {
    Borrowed<> found;
    if (is_own) found = find_instance_attribute(kernel, name, Remembered(place));
    return found ? Owned<>::share(found.get())
                 : Owned<>::steal(PyObject_GetAttr(kernel, name.value));
}

/// What a grid that is a function answers: it gets the arguments in a dict, by name.
Owned<> called_grid(PyObject* grid, PyObject* names, PyObject* const* from,
                    size_t count) {
    const auto given = Owned<>::steal(PyDict_New());
    if (!given) return {};
    for (size_t i = 0; i < count; ++i) {
        PyObject* const name = PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i));
        if (PyDict_SetItem(given.get(), name, from[i]) < 0) return {};
    }
    return Owned<>::steal(PyObject_CallOneArg(grid, given.get()));
}

/// The three sizes of a grid: those that it lacks are 1.
class Sizes {
public:
    /// False with an exception set.
    bool read(PyObject* grid) noexcept {
        static PyObject* const numbers[] = {PyLong_FromLong(0), PyLong_FromLong(1),
                                            PyLong_FromLong(2)};  // never freed
        const Py_ssize_t given = PyObject_Size(grid);
        if (given < 0) return false;
        const bool is_tuple = given > 0 && PyTuple_CheckExact(grid);
        for (Py_ssize_t i = 0; i < 3; ++i) {
            if (i > 0 && i >= given)
                at[i] = Owned<>::share(numbers[1]);
            else if (is_tuple)
                at[i] = Owned<>::share(PyTuple_GET_ITEM(grid, i));
            else
                at[i] = Owned<>::steal(PyObject_GetItem(grid, numbers[i]));
            if (!at[i]) return false;
        }
        return true;
    }

    Owned<> at[3];
};

/// What the launcher gets in front of the kernel's arguments.
constexpr size_t before_arguments = 9;

/// `from` and `count`: the kernel's own arguments.
PyObject* launch(PyObject* parts, Launched& known, PyObject* grid, PyObject* stream,
                 PyObject* const* from, size_t count) {
    Sizes sizes;
    if (!sizes.read(grid)) return nullptr;
    PyObject* const kernel = part_of(parts, compiled);
    const bool is_own =
        known.type_version && Py_TYPE(kernel)->tp_version_tag == known.type_version;
    const bool has_hooks = !is_own || !is_unseen(parts);
    PyObject** const all = GUARDTREE_ROOM(before_arguments + count);
    std::copy_n(from, count, all + before_arguments);
    Owned<> metadata;
    if (has_hooks) {
        PyObject** const given = all + before_arguments - 3;
        given[0] = kernel;
        given[1] = grid;
        given[2] = stream;
        metadata = Owned<>::steal(PyObject_VectorcallMethod(name_of_metadata.value,
                                                            given, count + 3, nullptr));
        if (!metadata) return nullptr;
    }
    const Owned<> function =
        attribute(kernel, name_of_function, is_own, known.places[0]);
    if (!function) return nullptr;
    const Owned<> packed = attribute(kernel, name_of_packed, is_own, known.places[1]);
    if (!packed) return nullptr;
    for (size_t i = 0; i < 3; ++i) all[i] = sizes.at[i].get();
    all[3] = stream;
    all[4] = function.get();
    all[5] = packed.get();
    all[6] = has_hooks ? metadata.get() : Py_None;
    all[7] = has_hooks ? part_of(parts, enter_hook) : Py_None;
    all[8] = has_hooks ? part_of(parts, exit_hook) : Py_None;
    const auto done = Owned<>::steal(PyObject_Vectorcall(
        part_of(parts, run), all, before_arguments + count, nullptr));
    return done ? Owned<>::share(kernel).release() : nullptr;
}

PyObject* call_payload(PyObject* self, PyObject* const* arguments, size_t count,
                       PyObject* names) {
    // What is called may take the entry out of its table, but the caller holds `self`.
    PyObject* const parts = Native::of(self)->parts;
    Launched& known = Native::of(self)->known;
    const auto given = static_cast<size_t>(PyVectorcall_NARGS(count));
    if (!parts || given < 2) {
        PyErr_SetString(PyExc_TypeError, "this launch was emptied, or got no grid");
        return nullptr;
    }
    PyObject* const other = part_of(parts, general);
    // Behind the grid, and in front of the options.
    PyObject* const* const own = arguments + 1;
    const size_t own_count = given - 2;
    const Py_ssize_t expected = PyTuple_GET_SIZE(part_of(parts, parameters));
    if (names || own_count != static_cast<size_t>(expected))
        return PyObject_Vectorcall(other, arguments, count, names);
    const auto device = Owned<>::steal(PyObject_CallNoArgs(part_of(parts, get_device)));
    if (!device) return nullptr;
    PyObject* const found =
        PyDict_GetItemWithError(part_of(parts, caches), device.get());
    if (!found && PyErr_Occurred()) return nullptr;
    if (found != part_of(parts, cache))
        return PyObject_Vectorcall(other, arguments, count, nullptr);
    const auto stream =
        Owned<>::steal(PyObject_CallOneArg(part_of(parts, get_stream), device.get()));
    if (!stream) return nullptr;
    PyObject* const grid = arguments[0];
    if (PyTuple_CheckExact(grid) || !PyCallable_Check(grid))
        return launch(parts, known, grid, stream.get(), own, own_count);
    const auto answered = called_grid(grid, part_of(parts, parameters), own, own_count);
    if (!answered) return nullptr;
    return launch(parts, known, answered.get(), stream.get(), own, own_count);
}

/// The parts of what `kernel[grid]` asks, in their order.
enum GridPart : Py_ssize_t { dispatcher, kept_grids };

/// Only such grids are kept: others may equal them, as (1.0,) does.
bool has_ints_only(PyObject* grid) noexcept {
    if (!PyTuple_CheckExact(grid)) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(grid); ++i)
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(grid, i))) return false;
    return true;
}

/// `made`, which belongs to a tuple of ints: a later use of the same tuple is found by
/// its address.
PyObject* remember(Native& native, PyObject* grid, PyObject* made) noexcept {
    const auto former =
        Owned<>::steal(std::exchange(native.last_grid, Owned<>::share(grid).release()));
    const auto former_made =
        Owned<>::steal(std::exchange(native.last_made, Owned<>::share(made).release()));
    return Owned<>::share(made).release();
}

/// The dispatcher with the grid as its first argument.
PyObject* call_at_grid(PyObject* self, PyObject* const* arguments, size_t count,
                       PyObject* names) {
    PyObject* const parts = Native::of(self)->parts;
    if (!parts || names || PyVectorcall_NARGS(count) != 1) {
        PyErr_SetString(PyExc_TypeError, "expected one argument: a grid");
        return nullptr;
    }
    PyObject* const grid = arguments[0];
    Native& native = *Native::of(self);
    if (grid == native.last_grid) return Owned<>::share(native.last_made).release();
    PyObject* const kept = part_of(parts, kept_grids);
    const bool is_plain = has_ints_only(grid);
    if (is_plain) {
        PyObject* const found = PyDict_GetItemWithError(kept, grid);
        if (found) return remember(native, grid, found);
        if (PyErr_Occurred()) return nullptr;
    }
    auto made = Owned<>::steal(PyMethod_New(part_of(parts, dispatcher), grid));
    if (made && is_plain && PyDict_GET_SIZE(kept) < Native::of(self)->limit &&
        PyDict_SetItem(kept, grid, made.get()) < 0)
        return nullptr;
    return made.release();
}

int clear_native(PyObject* self) noexcept {
    Native& native = *Native::of(self);
    for (PyObject** each : {&native.parts, &native.last_grid, &native.last_made})
        Owned<>::steal(std::exchange(*each, nullptr)).reset();
    return 0;
}

void free_native(PyObject* self) noexcept {
    PyObject_GC_UnTrack(self);
    const auto type = Owned<PyTypeObject>::steal(Py_TYPE(self));
    clear_native(self);
    type.get()->tp_free(self);
}

int traverse_native(PyObject* self, visitproc visit, void* arg) noexcept {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(Native::of(self)->parts);
    Py_VISIT(Native::of(self)->last_grid);
    Py_VISIT(Native::of(self)->last_made);
    return 0;
}

PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET,
                          offsetof(Native, vectorcall), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

template <class Function>
void* slot(Function* function) noexcept {
    return reinterpret_cast<void*>(function);
}

py::object make_native(vectorcallfunc function, py::handle parts, Py_ssize_t limit) {
    auto made =
        py::reinterpret_steal<py::object>(native_type->tp_alloc(native_type, 0));
    if (!made) throw py::error_already_set();
    Native* const native = Native::of(made.ptr());
    native->vectorcall = function;
    native->parts = Owned<>::share(parts.ptr()).release();
    native->limit = limit;
    return made;
}

py::object kernel_launch(py::handle given) {
    PyObject* const parts = given.ptr();
    if (!PyTuple_Check(parts) || PyTuple_GET_SIZE(parts) != part_count ||
        !PyDict_Check(part_of(parts, caches)) ||
        !PyTuple_Check(part_of(parts, parameters)))
        throw py::type_error("expected a tuple of the parts of a launch");
    py::object made = make_native(call_payload, given, 0);
    Native::of(made.ptr())->known.type_version = own_type_version(parts);
    return made;
}

py::object kernel_grids(py::handle calls, py::handle limit) {
    const py::ssize_t read = read_size(limit, {"_kernel_grids", "limit"}, "an int");
    return make_native(call_at_grid, py::make_tuple(calls, py::dict()), read);
}

HashedKey hashed(const char* name) {
    PyObject* const made = PyUnicode_InternFromString(name);
    if (!made) throw py::error_already_set();
    return {made, PyObject_Hash(made)};
}

}  // namespace

void bind_kernel_launch(py::module_& module) {
    PyType_Slot slots[] = {{Py_tp_dealloc, slot(&free_native)},
                           {Py_tp_traverse, slot(&traverse_native)},
                           {Py_tp_clear, slot(&clear_native)},
                           {Py_tp_call, slot(&PyVectorcall_Call)},
                           {Py_tp_members, members},
                           {0, nullptr}};
    PyType_Spec spec = {"guardtree._guardtree._Native",
                        static_cast<int>(sizeof(Native)), 0,
                        static_cast<unsigned>(Py_TPFLAGS_DEFAULT) |
                            static_cast<unsigned>(Py_TPFLAGS_HAVE_GC) |
                            static_cast<unsigned>(Py_TPFLAGS_HAVE_VECTORCALL) |
                            static_cast<unsigned>(Py_TPFLAGS_DISALLOW_INSTANTIATION),
                        slots};
    native_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    name_of_function = hashed("function");
    name_of_packed = hashed("packed_metadata");
    name_of_metadata = hashed("launch_metadata");
    if (!native_type) throw py::error_already_set();
    define_function(module, "_kernel_launch", calling<&kernel_launch>,
                    py::arg("parts"));
    define_function(module, "_kernel_grids", calling<&kernel_grids>,
                    py::arg("dispatcher"), py::arg("limit"));
}

}  // namespace guardtree
