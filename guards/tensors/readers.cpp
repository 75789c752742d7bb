// The registry of tensor types.
// SPDX-License-Identifier: MIT
#include "readers.h"

#include <cstring>

#include <tsl/robin_map.h>

#include "../../framelocals/exception.h"
#include "../../framelocals/no_memory.h"
#include "../objects/constant.h"

#include "dlpack_reader.h"

namespace guardtree {
namespace {

using Readers = tsl::robin_map<PyTypeObject*, const TensorReader*>;

/// Never freed: types may be looked up while the interpreter ends.
Readers& readers() {
    static auto* all = new Readers;
    return *all;
}

const TensorReader* registered(PyTypeObject* type) noexcept {
    const auto found = readers().find(type);
    return found == readers().end() ? nullptr : found->second;
}

void keep(PyTypeObject* type, const TensorReader* reader) {
    // Kept alive forever.
    if (!registered(type)) static_cast<void>(Owned<>::share(as_object(type)).release());
    readers()[type] = reader;
    last_tensor_type = {};
    if (reader->read_shape == read_shape_of<NumpyReader>)
        numpy_array_type = type;
    else if (type == numpy_array_type)
        numpy_array_type = nullptr;
}

bool is_called(PyTypeObject* type, const char* name) noexcept {
    return std::strcmp(type->tp_name, name) == 0 &&
           !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE);
}

/// Whether the `__module__` of a type says that it is a class of torch.
bool is_of_torch(PyTypeObject* type) noexcept {
    static PyObject* kept = nullptr;
    PyObject* const name = kept_name(kept, "__module__");
    PyObject* module = own_attribute(type, name);
    if (!module || !PyUnicode_Check(module)) return false;
    const std::string text = utf8(module);
    return text == "torch" || text.starts_with("torch.");
}

bool is_torch_plugin_invited = false;

/// Imports guardtree.torch once, which registers the plugin's reader. A program without
/// that package continues without it.
void invite_torch_plugin() {
    is_torch_plugin_invited = true;
    const auto part = Owned<>::steal(PyImport_ImportModule("guardtree.torch"));
    if (part) {
        Owned<>::steal(PyObject_CallMethod(part.get(), "_announce", nullptr));
    } else if (PyErr_ExceptionMatches(PyExc_ModuleNotFoundError)) {
        PyErr_Clear();
    }
    if (PyErr_Occurred()) PyErr_WriteUnraisable(part.get());
}

void invite_torch_plugin_for(PyTypeObject* type) {
    if (is_torch_plugin_invited || !type->tp_mro) return;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(type->tp_mro); ++i) {
        auto* base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(type->tp_mro, i));
        if (is_of_torch(base)) return invite_torch_plugin();
    }
}

/// Finds the reader for a new type: NumPy's, or one with the DLPack interface.
const TensorReader* discovered(PyTypeObject* type, bool is_own,
                               const char*& problem) noexcept {
    const TensorReader* reader = nullptr;
    if (is_called(type, "numpy.ndarray")) {
        const ExceptionPause pause;
        const NoCollection no_collection;
        reader = verified_numpy(type, problem);
        if (!reader) return nullptr;
    }
    const ExceptionPause pause;
    const bool has_memory = allocating([&] {
        if (!reader) reader = dlpack_reader(type, is_own);
        if (reader) keep(type, reader);
    });
    if (has_memory) return reader;
    PyErr_Clear();  // the type stays unknown for now
    return nullptr;
}

}  // namespace

bool register_tensor_type(PyTypeObject* type, const TensorReader* reader,
                          Diagnostic& problem) {
    if (reader->version != TensorReader::current_version) {
        problem = {
            PyExc_ImportError,
            "the tensor reader '" + std::string(reader->name) + "' has version " +
                std::to_string(reader->version) + ", this guardtree reads " +
                std::to_string(TensorReader::current_version) + "; build it again"};
        return false;
    }
    keep(type, reader);
    return true;
}

const TensorReader* find_tensor_reader(PyTypeObject* type) noexcept {
    if (const TensorReader* found = registered(type)) {  // kept alive forever
        last_tensor_type = {type, found};
        return found;
    }
    const char* problem = nullptr;
    if (const TensorReader* found = discovered(type, true, problem)) return found;
    PyObject* bases = type->tp_mro;
    if (!bases) return nullptr;
    for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(bases); ++i) {
        auto* base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(bases, i));
        const TensorReader* found = registered(base);
        if (!found) found = discovered(base, true, problem);
        if (found) return found->reads_subclasses ? found : nullptr;
    }
    return nullptr;
}

void expect_tensors() {
    if (is_torch_plugin_invited) return;
    PyObject* const modules = PyImport_GetModuleDict();
    if (PyDict_Check(modules) && item_by_name(modules, "torch")) invite_torch_plugin();
}

const TensorReader* demand_tensor_reader(PyTypeObject* type, Diagnostic& problem) {
    invite_torch_plugin_for(type);
    if (const TensorReader* found = find_tensor_reader(type)) return found;
    const char* text = nullptr;
    if (const TensorReader* found = discovered(type, false, text)) return found;
    problem = {PyExc_TypeError,
               text ? text
                    : "expected a tensor (a NumPy array, or a value whose type has "
                      "__dlpack_c_exchange_api__), found type " +
                          reference_text(as_object(type))};
    return nullptr;
}

bool read_tensor_storage_offset(PyObject* value, int64_t& to) noexcept {
    const TensorReader* reader = tensor_reader_of(value);
    TensorFacts facts;
    if (!reader || !reader->knows_storage_offset ||
        !reader->read(value, reader->context, facts)) {
        return false;
    }
    to = facts.storage_offset;
    return true;
}

}  // namespace guardtree
